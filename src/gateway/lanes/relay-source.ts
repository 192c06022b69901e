/** The source of a streamed native answer: reads the provider's bytes through the tap. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import type { StreamObserver, StreamSummary } from "../../core/format.ts";
import type { Tap } from "../../stream/tap.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { bytesWithoutSecrets, CredentialMask } from "../delivery/redact.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { TerminatorTimeout } from "../delivery/terminator-timeout.ts";
import type { Gateway, Incoming } from "../types.ts";
import { drainInBackground } from "./read-answer.ts";
import type { ByteReader } from "./transport.ts";

/** Limit of the bytes that wait for the first event of a stream. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export class RelaySource implements ByteSource {
  readonly #reader: ByteReader;
  readonly #tap: Tap;
  readonly #attempt: Attempt;
  readonly #mask: CredentialMask;
  readonly #terminatorTimeout: TerminatorTimeout;
  /** One finish reason completes the stream. */
  readonly #hasOneChoice: boolean;
  #held: Uint8Array[] = [];
  #ended = false;
  /** The finish reason came, and then no terminator within the timeout. */
  #hasTimedOut = false;

  constructor(reader: ByteReader, tap: Tap, incoming: Incoming, attempt: Attempt, gateway: Gateway) {
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
    let held = 0;
    while (!this.#tap.started) {
      const piece = await this.#pull();
      if (!piece) break;
      this.#held.push(piece);
      held += piece.length;
      if (held > MAX_HELD_BYTES) throw this.#tooLong();
    }
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

  next(): Promise<Uint8Array | undefined> {
    const held = this.#held.shift();
    return held ? Promise.resolve(held) : this.#pull();
  }

  /** The provider's error event, which weir has passed on; the call counts as failed. */
  get error(): GatewayError | undefined {
    return this.#tap.seen.error;
  }

  beforeError(): string {
    return this.#tap.midEvent ? "\n\n" : "";
  }

  stop(reason: unknown): void {
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#attempt);
    this.#reader.cancel(reason).catch(() => {});
  }

  /** Not an async function: it would cost additional promises for each chunk of a stream. */
  #pull(): Promise<Uint8Array | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    const { seen } = this.#tap;
    if (seen.terminated || seen.error) return Promise.resolve(this.#endAtTerminator());
    return this.#reader.read().then(this.#onRead, this.#onBreak);
  }

  readonly #onRead = ({ done, value }: { done: boolean; value?: Uint8Array }) => {
    if (done || !value) return this.#finish();
    const clean = this.#mask.push(value);
    const piece = clean.length === 0 ? undefined : this.#tap.push(clean);
    const { seen } = this.#tap;
    if (!seen.finished || seen.terminated || !this.#hasOneChoice) this.#terminatorTimeout.stop();
    else if (piece) this.#terminatorTimeout.start();
    else this.#terminatorTimeout.postpone();
    return piece ? this.#masked(piece) : this.#pull();
  };

  readonly #onBreak = (cause: unknown) => {
    if (this.#attempt.stop.reason) throw this.#attempt.stop.reason;
    // The answer is complete at its terminator: a connection that breaks after it is no failure.
    if (this.#isComplete()) return this.#finish();
    throw incompleteStream(cause);
  };

  /** Masks credentials in the provider's error event. */
  #masked(piece: Uint8Array): Uint8Array {
    const { error } = this.#tap.seen;
    return error ? bytesWithoutSecrets(piece, this.#attempt.target.provider) : piece;
  }

  /** Ends the client's answer, and reads the rest of the body so that the connection can be reused. */
  #endAtTerminator(): undefined {
    this.#ended = true;
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#attempt);
    void drainInBackground(this.#reader);
  }

  /** Handles the end of the provider's body. @throws GatewayError if the answer is incomplete */
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
    if (!this.#isComplete() && !this.#attempt.target.provider.traits?.eofIsStop) throw incompleteStream();
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
