/** The events of a provider's stream. What a network read brought in is read in one synchronous pass. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { brokenConnection } from "../../core/incomplete.ts";
import type { AnswerReader, Frame, StreamObserver, StreamSummary, UpstreamCodec } from "../../core/format.ts";
import { SseParser } from "../../stream/sse.ts";
import { marksOf } from "../../stream/tap.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { CredentialMask } from "../delivery/redact.ts";
import { TerminatorTimeout } from "../delivery/deadline.ts";
import type { Gateway } from "../types.ts";
import type { EventReceiver, EventSource } from "./event-source.ts";
import { drainInBackground } from "./read-answer.ts";
import type { ByteReader, Receiver } from "./transport.ts";

/**
 * The most that one pass translates. The client's events may be several times longer than the provider's, and all that a pass
 * gives waits in memory if the client does not read. Bytes.
 */
const PASS_BYTES = 16 * 1024;

export class ProviderEvents implements EventSource, Receiver {
  readonly #attempt: Attempt;
  readonly #bytes: PacedReader;
  readonly #mask: CredentialMask;
  readonly #frames = new SseParser();
  readonly #progress: StreamProgress;
  readonly #answer: AnswerReader;
  readonly #terminatorTimeout: TerminatorTimeout;
  #receiver!: EventReceiver;
  #stopped = false;

  constructor(bytes: ByteReader, codec: UpstreamCodec, attempt: Attempt, { backlog, clock }: Gateway) {
    this.#attempt = attempt;
    this.#bytes = new PacedReader(bytes, attempt.call, backlog, PASS_BYTES);
    this.#mask = new CredentialMask(attempt.target);
    this.#progress = new StreamProgress(codec.native.watch);
    this.#answer = codec.codec.readStream(attempt.context);
    this.#terminatorTimeout = new TerminatorTimeout(clock, () => void this.#bytes.cancel().catch(() => {}));
  }

  read(receiver: EventReceiver): void {
    this.#receiver = receiver;
    this.#bytes.take(this);
  }

  /** Closes the connection, unless the terminator has come: then it is kept for the next call. */
  stop(reason?: unknown): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#terminatorTimeout.stop();
    if (this.#progress.isTerminated) void drainInBackground(this.#bytes);
    else this.#bytes.cancel(reason).catch(() => {});
  }

  /** The provider sends bytes. */
  piece(bytes: Uint8Array): void {
    this.#attempt.heardAt = performance.now();
    this.#pass(() => this.#passBytes(bytes));
  }

  /** The provider's body ends. */
  end(): void {
    this.#pass(() => this.#passEnd());
  }

  /** The connection to the provider breaks. */
  fail(cause: unknown): void {
    const { reason } = this.#attempt.stop;
    if (reason) this.#receiver.fail(reason);
    else if (cause instanceof GatewayError) this.#receiver.fail(cause);
    // The answer is complete at its finish reason: a connection that breaks after it is no failure.
    else if (this.#progress.lacksTerminator) this.end();
    else this.#receiver.fail(brokenConnection(cause));
  }

  /** @param pass passes events on, and returns whether more may follow */
  #pass(pass: () => boolean): void {
    let more: boolean;
    try {
      more = pass();
    } catch (thrown) {
      return this.#receiver.fail(thrown);
    }
    this.#receiver.read(more);
  }

  #passBytes(bytes: Uint8Array): boolean {
    for (const frame of this.#frames.push(this.#mask.push(bytes))) if (this.#passFrame(frame)) return false;
    if (!this.#progress.lacksTerminator) this.#terminatorTimeout.stop();
    else if (this.#frames.isMidLine) this.#terminatorTimeout.postpone();
    else this.#terminatorTimeout.start();
    return true;
  }

  /** @returns whether the answer has ended */
  #passFrame(frame: Frame): boolean {
    this.#progress.observe(frame);
    for (const event of this.#answer.push(frame)) {
      this.#receiver.event(event);
      if (event.type !== "message-end") continue;
      this.stop();
      return true;
    }
    return false;
  }

  #passEnd(): boolean {
    this.stop();
    for (const event of this.#answer.end()) this.#receiver.event(event);
    return false;
  }
}

/** Observes whether the finish reason and the terminator of a stream have come. */
class StreamProgress {
  readonly #watch: StreamObserver;
  readonly #marks: RegExp;
  readonly #seen: StreamSummary = { terminated: false, complete: false };

  constructor(watch: StreamObserver) {
    this.#watch = watch;
    this.#marks = marksOf(watch);
  }

  observe(frame: Frame): void {
    if (this.#marks.test(frame.data)) this.#watch.frame(frame, this.#seen);
  }

  /** The terminator has come. */
  get isTerminated(): boolean {
    return this.#seen.terminated;
  }

  /** The finish reason has come and the terminator has not. */
  get lacksTerminator(): boolean {
    return this.#seen.finished === true && !this.#seen.terminated;
  }
}
