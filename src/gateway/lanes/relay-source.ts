/** The source of a streamed native answer: reads the provider's bytes through the tap. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import type { BrokenStream, StreamObserver, StreamSummary } from "../../core/format.ts";
import { parseFrames } from "../../stream/sse.ts";
import type { StreamTap } from "../../stream/tap.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { bytesWithoutSecrets, CredentialMask } from "../delivery/redact.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { TerminatorTimeout } from "../delivery/deadline.ts";
import type { Gateway, Incoming } from "../types.ts";
import type { StreamKeeper } from "../stored/native-answer.ts";
import { drainInBackground } from "./read-answer.ts";
import type { ByteReader, Receiver } from "./transport.ts";
import { nextPiece } from "./transport.ts";

/** Begins a comment, which some providers send while they are silent. */
const COLON = 0x3a;

/** Limit of the bytes that wait for the first event of a stream. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export class RelaySource implements ByteSource, Receiver {
  readonly #reader: PacedReader;
  readonly #tap: StreamTap;
  readonly #attempt: Attempt;
  readonly #mask: CredentialMask;
  readonly #terminatorTimeout: TerminatorTimeout;
  /** One finish reason completes the stream. */
  readonly #hasOneChoice: boolean;
  readonly #keeper: StreamKeeper | undefined;
  #receiver!: Receiver;
  #held: Uint8Array[] = [];
  /** The events that the client got last. */
  #last: Uint8Array | undefined;
  #ended = false;
  /** The finish reason came, and then no terminator within the timeout. */
  #hasTimedOut = false;

  /** @param keeper stores the answer as it passes */
  constructor(
    reader: ByteReader,
    tap: StreamTap,
    incoming: Pick<Incoming, "spanOf">,
    attempt: Attempt,
    gateway: Gateway,
    keeper?: StreamKeeper,
  ) {
    this.#keeper = keeper;
    this.#reader = new PacedReader(reader, attempt.call, gateway.backlog);
    this.#tap = tap;
    this.#attempt = attempt;
    this.#mask = new CredentialMask(attempt.target);
    const { choicesMember } = tap.watch;
    this.#hasOneChoice = choicesMember === undefined || incoming.spanOf(choicesMember) === undefined;
    this.#terminatorTimeout = new TerminatorTimeout(gateway.clock, () => {
      this.#hasTimedOut = true;
      void this.#reader.cancel().catch(() => {});
    });
  }

  /**
   * Reads until the first event of the answer, so that an earlier failure can be returned as an HTTP status.
   * @throws GatewayError if the first event is an error, or no event comes
   */
  async begin(): Promise<void> {
    const held: Uint8Array[] = [];
    let size = 0;
    while (!this.#tap.started) {
      const { value } = await nextPiece(this);
      if (!value) break;
      held.push(value);
      size += value.length;
      if (size > MAX_HELD_BYTES) throw this.#tooLong();
    }
    this.#held = held;
    const { seen } = this.#tap;
    if (this.#tap.failedFirst && seen.error) {
      this.stop(seen.error);
      throw seen.error;
    }
    this.#attempt.firstByteAt = performance.now();
  }

  #tooLong(): GatewayError {
    const error = new GatewayError(
      "upstream",
      `The first event of the provider's stream is longer than ${MAX_HELD_BYTES} bytes.`,
      {
        code: "upstream_too_large",
      },
    );
    this.stop(error);
    return error;
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    const held = this.#held.shift();
    if (held) receiver.piece(held);
    else this.#pull();
  }

  /** The provider's error event, which weir has passed on; the call counts as failed. */
  get error(): GatewayError | undefined {
    return this.#tap.seen.error;
  }

  beforeError(): string {
    return this.#tap.midEvent ? "\n\n" : "";
  }

  broken(): BrokenStream {
    const last = this.#last && parseFrames(this.#last).at(-1);
    const { begun } = this.#tap.seen;
    return { ...(begun && { begun }), ...(last && { last }) };
  }

  stop(reason: unknown): void {
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#attempt);
    this.#reader.cancel(reason).catch(() => {});
  }

  #pull(): void {
    const { seen } = this.#tap;
    if (!this.#ended && (seen.terminated || seen.error)) this.#endAtTerminator();
    if (this.#ended) this.#receiver.end();
    else this.#reader.take(this);
  }

  /** The provider sends bytes. */
  piece(bytes: Uint8Array): void {
    let passed: Uint8Array | undefined;
    try {
      passed = this.#pass(bytes);
    } catch (thrown) {
      return this.#receiver.fail(thrown);
    }
    if (passed) this.#give(passed);
    else this.#pull();
  }

  #give(bytes: Uint8Array): void {
    if (bytes[0] !== COLON) this.#last = bytes;
    this.#attempt.call.watched?.(bytes);
    if (!this.#keeper) return this.#receiver.piece(bytes);
    const kept = this.#keeper.pass(bytes, this.#tap);
    if (kept instanceof Uint8Array) this.#receiver.piece(kept);
    else
      kept.then(
        (piece) => this.#receiver.piece(piece),
        (thrown: unknown) => this.#receiver.fail(thrown),
      );
  }

  /** @returns complete events, for the client */
  #pass(bytes: Uint8Array): Uint8Array | undefined {
    const clean = this.#mask.push(bytes);
    const passed = clean.length === 0 ? undefined : this.#tap.push(clean);
    const { seen } = this.#tap;
    // A call that fails or is aborted is charged for what has been counted.
    recordUsage(seen, this.#attempt);
    this.#attempt.noteOutput(this.#tap.output, this.#tap.outputTokens);
    if (!seen.finished || seen.terminated || !this.#hasOneChoice) this.#terminatorTimeout.stop();
    else if (passed) this.#terminatorTimeout.start();
    else this.#terminatorTimeout.postpone();
    return passed && this.#masked(passed);
  }

  /** The provider's body ends. */
  end(): void {
    let rest: Uint8Array | undefined;
    try {
      rest = this.#finish();
    } catch (thrown) {
      return this.#receiver.fail(thrown);
    }
    if (rest) this.#give(rest);
    else this.#receiver.end();
  }

  /** The connection to the provider breaks. */
  fail(cause: unknown): void {
    const { reason } = this.#attempt.stop;
    if (reason) this.#receiver.fail(reason);
    // The answer is complete at its terminator: a connection that breaks after it is no failure.
    else if (this.#isComplete()) this.end();
    else this.#receiver.fail(incompleteStream(cause));
  }

  /** Masks credentials in the provider's error event. */
  #masked(piece: Uint8Array): Uint8Array {
    const { error } = this.#tap.seen;
    return error ? bytesWithoutSecrets(piece, this.#attempt.target.provider) : piece;
  }

  /** Ends the client's answer, and reads the rest of the body so that the connection can be reused. */
  #endAtTerminator(): void {
    this.#ended = true;
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#attempt);
    void drainInBackground(this.#reader);
  }

  /** Handles the end of the provider's body. @returns the last bytes for the client @throws GatewayError if the answer is incomplete */
  #finish(): Uint8Array | undefined {
    if (this.#ended) return undefined;
    this.#ended = true;
    this.#terminatorTimeout.stop();
    const { seen } = this.#tap;
    const held = this.#mask.end();
    if (held.length > 0) this.#tap.push(held);
    const rest = this.#tap.rest();
    recordUsage(seen, this.#attempt);
    // Without the rest: the terminator would become part of an unfinished event.
    if (this.#hasTimedOut && !seen.terminated) return terminatorOf(this.#tap.watch);
    if (!this.#isComplete() && !this.#attempt.context.target.traits.eofIsStop) throw incompleteStream();
    return rest && this.#masked(rest);
  }

  /** The answer is complete, or the provider's error event has passed. */
  #isComplete(): boolean {
    const { seen } = this.#tap;
    return this.#hasTimedOut || seen.terminated || seen.complete || seen.error !== undefined;
  }
}

function terminatorOf({ terminator }: StreamObserver): Uint8Array | undefined {
  return terminator === undefined ? undefined : Buffer.from(terminator);
}

/** Records usage and finish reason on the attempt. */
export function recordUsage(seen: StreamSummary, attempt: Attempt): void {
  if (seen.usage) attempt.usage = seen.usage;
  if (seen.finish) attempt.finish = seen.finish.raw ?? seen.finish.kind;
}
