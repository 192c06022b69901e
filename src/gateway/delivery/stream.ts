/**
 * The body of a streamed answer. Its reader pulls one piece whenever the client's socket accepts more: a pushing stream would
 * keep in memory everything that a slow client has not read.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { BrokenStream, AnswerCodec } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import type { Receiver } from "../lanes/transport.ts";
import { blame } from "../plugins/late-hooks.ts";
import type { Timeouts } from "../types.ts";
import type { Clock, Watcher } from "./clock.ts";
import { timeoutsOf } from "./deadline.ts";
import { type Outlet, type Pulled, readableBody, socketBody } from "./outlet.ts";
import { toClientError } from "./redact.ts";
import type { StreamBody } from "./stream-body.ts";

/** Where the bytes come from. */
export interface ByteSource {
  /**
   * Waits for the first event, so that an earlier failure can be returned as an HTTP status. Called once, before `take`.
   * @throws GatewayError if the first event is an error, or the answer ends before it
   */
  begin(): Promise<void>;
  /** The answer has not begun: weir sends heartbeats, and the idle timeout does not apply yet. */
  readonly isWaiting?: boolean;
  /**
   * Gives the next piece to the receiver, at once if one is here: a promise for each piece would cost more than everything else
   * that weir does with it.
   */
  take(receiver: Receiver): void;
  /** The provider's own error, if it sent one; known when the receiver's `end` or `fail` is called. */
  readonly error?: GatewayError | undefined;
  /** The error event of the client's format, if it depends on the events before it. */
  writeError?(error: GatewayError): readonly Frame[] | undefined;
  /** Bytes that the client got, if weir passed it on as it came. */
  broken?(): BrokenStream;
  /** Text that must precede an error event, if the last piece ended inside an event; weir sends no heartbeat there. */
  beforeError?(): string;
  /**
   * The client is gone. @param ending settles the call at the end of the answer
   * @returns true if the source is read on without it and settles the call itself; absent: never
   */
  readOn?(ending: StreamEnding): boolean;
  /** Cancels the source. */
  stop(reason: unknown): void;
}

/** A source that passes on another one, to be changed by what extends it. */
export class Passed implements ByteSource, Receiver {
  readonly #inner: ByteSource;
  #receiver!: Receiver;

  constructor(inner: ByteSource) {
    this.#inner = inner;
  }

  begin(): Promise<void> {
    return this.#inner.begin();
  }

  get isWaiting(): boolean {
    return this.#inner.isWaiting ?? false;
  }

  get error(): GatewayError | undefined {
    return this.#inner.error;
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    this.takeInto(this);
  }

  /** Asks for the next piece. */
  protected takeInto(receiver: Receiver): void {
    this.#inner.take(receiver);
  }

  piece(bytes: Uint8Array): void {
    this.#receiver.piece(bytes);
  }

  end(): void {
    this.#receiver.end();
  }

  fail(thrown: unknown): void {
    this.#receiver.fail(thrown);
  }

  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.#inner.writeError?.(error);
  }

  broken(): BrokenStream {
    return this.#inner.broken?.() ?? {};
  }

  beforeError(): string {
    return this.#inner.beforeError?.() ?? "";
  }

  readOn(ending: StreamEnding): boolean {
    return this.#inner.readOn?.(ending) ?? false;
  }

  stop(reason: unknown): void {
    this.#inner.stop(reason);
  }
}

/** Settles the call at the end of the stream. Exactly one of these is called, once. */
export interface StreamEnding {
  /** The answer is complete and was sent. */
  complete(): void;
  failed(error: GatewayError): void;
  /** The client disconnected. */
  cancelled(): void;
}

/**
 * Streams a source to the client. A failure becomes an error event of the client's format, after which weir closes the
 * connection without ending the body: some clients ignore the event, and would take a regular end for a complete answer.
 */
export function answerStream(answer: StreamedAnswer): ReadableStream<Uint8Array> {
  return socketBody((outlet) => new AnswerStream(answer, outlet));
}

/** The same for code of this process that reads the answer. */
export function readableAnswer(answer: StreamedAnswer): ReadableStream<Uint8Array> {
  return readableBody((outlet) => new AnswerStream(answer, outlet));
}

/** An answer that is streamed to a client. */
export interface StreamedAnswer {
  readonly source: ByteSource;
  readonly call: Call;
  readonly codec: Pick<AnswerCodec, "encodeStreamError" | "framing">;
  readonly body: StreamBody;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly ending: StreamEnding;
}

/**
 * - `open`: the call is not settled.
 * - `settled`: weir sends nothing more, or the source is read on without the client.
 * - `probing`: the answer has failed, and the server asks for more behind the error event. The next tick sends bytes without
 *   meaning: the server asks again only when its socket has accepted all before them.
 * - `probed`: these bytes are sent.
 * - `flushed`: the socket has accepted everything. The next tick closes the connection.
 * - `closing`: the connection is being closed.
 */
type State = "open" | "settled" | "probing" | "probed" | "flushed" | "closing";

/** The server pulls the pieces, the source gives them, and the clock watches both. */
class AnswerStream implements Pulled, Receiver {
  readonly #answer: StreamedAnswer;
  readonly #outlet: Outlet;
  readonly #watcher: Watcher = { tick: (now) => this.#tick(now) };
  #state: State = "open";
  /** The source was asked for a piece. */
  #isWaiting = false;
  /** A heartbeat was sent with the response headers, which leave with the first bytes of the body. */
  #isHeadSent = false;
  #receivedAt = performance.now();
  #sentAt = this.#receivedAt;

  constructor(answer: StreamedAnswer, outlet: Outlet) {
    this.#answer = answer;
    this.#outlet = outlet;
    answer.call.cutOff ??= (error) => this.#cutOff(error);
    answer.clock.add(this.#watcher);
  }

  pull(): void {
    // The stream stays open, so that closing the connection is not a regular end of the body.
    if (this.#state !== "open") return this.#flush();
    // The server pulls again after a heartbeat.
    if (this.#isWaiting) return;
    const { source, body } = this.#answer;
    if (source.isWaiting && !this.#isHeadSent) {
      this.#isHeadSent = true;
      return this.#outlet.write(body.heartbeat);
    }
    this.#isWaiting = true;
    source.take(this);
  }

  cancel(reason: unknown): void {
    const { clock, call, source, ending } = this.#answer;
    this.#isWaiting = false;
    clock.remove(this.#watcher);
    if (this.#readsOn()) return;
    call.abort(clientLeft());
    source.stop(reason);
    if (this.#settles()) ending.cancelled();
  }

  piece(bytes: Uint8Array): void {
    this.#isWaiting = false;
    if (this.#state !== "open") return;
    this.#receivedAt = this.#sentAt = performance.now();
    this.#outlet.write(this.#answer.body.piece(bytes));
  }

  end(): void {
    this.#isWaiting = false;
    if (this.#state !== "open") return;
    this.#receivedAt = this.#sentAt = performance.now();
    const { source, body, ending } = this.#answer;
    const { error } = source;
    const last = body.end();
    // First, because the outlet may pull at once.
    this.#state = "settled";
    if (last) this.#outlet.write(last);
    if (error) return this.#endWith(error);
    ending.complete();
    this.#finish();
  }

  fail(thrown: unknown): void {
    this.#isWaiting = false;
    if (this.#state === "open") this.#fail(thrown);
  }

  #tick(now: number): void {
    if (this.#state === "closing") return;
    if (this.#state === "flushed") return this.#close();
    if (this.#state === "probing") return this.#sendProbe();
    const { source, call, body, timeouts } = this.#answer;
    const { heartbeatMs, readMs } = timeouts;
    if (!this.#isWaiting) return now - this.#sentAt > readMs ? this.#cutOff(readTimeout(readMs)) : undefined;
    const { gapMs } = timeoutsOf(call, timeouts);
    // A comment of the provider makes no piece for the client, and is a sign of life.
    const heardAt = Math.max(this.#receivedAt, call.attempt?.heardAt ?? 0);
    if (!source.isWaiting && now - heardAt > gapMs) this.#fail(blame(idleTimeout(gapMs), call));
    else if (now - this.#sentAt > heartbeatMs && this.#state === "open" && !source.beforeError?.()) {
      this.#sentAt = now;
      this.#outlet.write(body.heartbeat);
    }
  }

  /** @returns whether the caller is the first to settle the call */
  #settles(): boolean {
    if (this.#state !== "open") return false;
    this.#state = "settled";
    return true;
  }

  /** The provider's error ended the source, which has written it where the connection is closed behind an error. */
  #endWith(error: GatewayError): void {
    const { source, call, codec, body, ending } = this.#answer;
    ending.failed(error);
    if (!codec.framing.errorEndsStream) return this.#flush();
    const redacted = toClientError(error, call);
    const frames = codec.encodeStreamError(redacted, call.id, false, source.broken?.());
    this.#outlet.write(body.error(frames, ""));
    this.#finish();
  }

  #fail(thrown: unknown): void {
    const { source, call, codec, body, ending } = this.#answer;
    const error = toClientError(thrown, call);
    if (this.#settles()) ending.failed(source.error ?? error);
    const frames =
      source.writeError?.(error) ??
      codec.encodeStreamError(error, call.id, source.isWaiting, source.broken?.());
    this.#sentAt = performance.now();
    this.#isWaiting = false;
    this.#outlet.write(body.error(frames, source.beforeError?.() ?? ""));
    source.stop(error);
    call.abort(error);
    if (codec.framing.errorEndsStream) this.#finish();
  }

  /** The client is gone. @returns whether the source goes on without it */
  #readsOn(): boolean {
    const { source, ending } = this.#answer;
    if (this.#state !== "open" || !source.readOn?.(ending)) return false;
    this.#state = "settled";
    return true;
  }

  /** Sends no error event: the client would not read it. */
  #cutOff(error: GatewayError): void {
    const { source, call, ending } = this.#answer;
    if (!this.#readsOn()) {
      if (this.#settles()) ending.failed(error);
      call.abort(error);
      source.stop(error);
    }
    this.#close();
  }

  /** The server pulls after the error event. Bytes in its buffer would be lost when weir closes the connection. */
  #flush(): void {
    if (this.#state === "probed") this.#state = "flushed";
    else if (this.#state === "settled") this.#state = "probing";
  }

  #sendProbe(): void {
    this.#state = "probed";
    this.#sentAt = performance.now();
    this.#outlet.write(this.#answer.body.filler);
  }

  #close(): void {
    const { clock, call } = this.#answer;
    this.#state = "closing";
    clock.remove(this.#watcher);
    if (call.disconnect) call.disconnect();
    else this.#outlet.fail(new Error("The answer is incomplete."));
  }

  /** Ends the body regularly. */
  #finish(): void {
    this.#answer.clock.remove(this.#watcher);
    this.#outlet.end();
  }
}

/** The reason with which a call is aborted when its client disconnects. */
export function clientLeft(): GatewayError {
  return new GatewayError("cancelled", "The client disconnected before the answer was complete.");
}

function readTimeout(readMs: number): GatewayError {
  const waited = Math.round(readMs / 1000);
  return new GatewayError(
    "cancelled",
    `The client did not read its answer for ${waited} s; weir disconnected it.`,
  );
}

/** The failure of an answer whose provider is silent. */
export function idleTimeout(gapMs: number): GatewayError {
  return new GatewayError(
    "timeout",
    `The provider sent nothing for ${Math.round(gapMs / 1000)} s during its answer.`,
    {
      code: "timeout",
    },
  );
}
