/**
 * The body of a streamed answer. The server pulls one piece whenever the client's socket accepts more: a pushing stream would
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
export function answerStream(
  source: ByteSource,
  call: Call,
  codec: Pick<AnswerCodec, "encodeStreamError" | "framing">,
  body: StreamBody,
  clock: Clock,
  timeouts: Timeouts,
  ending: StreamEnding,
): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let waiting = false;
  /** A heartbeat was sent with the response headers, which leave with the first bytes of the body. */
  let isHeadSent = false;
  let receivedAt = performance.now();
  let sentAt = receivedAt;
  let isSettled = false;
  /** The answer has failed, and the socket has accepted everything that weir sent of it. */
  let isFlushed = false;
  /** weir sends bytes without meaning after the error event: the server pulls again only when its socket has accepted all before it. */
  let probe: "none" | "wanted" | "sent" = "none";
  /** The connection is being closed. */
  let isClosing = false;

  const watcher: Watcher = {
    tick(now: number): void {
      if (isClosing) return;
      if (isFlushed) return close();
      if (probe === "wanted") return sendProbe();
      const { heartbeatMs, readMs } = timeouts;
      if (!waiting) return now - sentAt > readMs ? cutOff(readTimeout(readMs)) : undefined;
      const { gapMs } = timeoutsOf(call, timeouts);
      // A comment of the provider makes no piece for the client, and is a sign of life.
      const heardAt = Math.max(receivedAt, call.attempt?.heardAt ?? 0);
      if (!source.isWaiting && now - heardAt > gapMs) fail(blame(idleTimeout(gapMs), call));
      else if (now - sentAt > heartbeatMs && !isSettled && !source.beforeError?.()) {
        sentAt = now;
        controller.enqueue(body.heartbeat);
      }
    },
  };

  const end = (settle: () => void) => {
    if (isSettled) return;
    isSettled = true;
    settle();
  };

  const close = () => {
    isClosing = true;
    clock.remove(watcher);
    if (call.disconnect) call.disconnect();
    else controller.error(new Error("The answer is incomplete."));
  };

  /** Ends the body regularly. */
  const finish = () => {
    clock.remove(watcher);
    controller.close();
  };

  /** The server pulls after the error event. Bytes in its buffer would be lost when weir closes the connection. */
  const flush = () => {
    if (probe === "sent") isFlushed = true;
    else probe = "wanted";
  };

  const sendProbe = () => {
    probe = "sent";
    sentAt = performance.now();
    controller.enqueue(body.filler);
  };

  const fail = (thrown: unknown) => {
    const error = toClientError(thrown, call);
    end(() => ending.failed(source.error ?? error));
    const frames =
      source.writeError?.(error) ??
      codec.encodeStreamError(error, call.id, source.isWaiting, source.broken?.());
    sentAt = performance.now();
    waiting = false;
    controller.enqueue(body.error(frames, source.beforeError?.() ?? ""));
    source.stop(error);
    call.abort(error);
    if (codec.framing.errorEndsStream) finish();
  };

  /** The client is gone. @returns whether the source goes on without it */
  const readsOn = () => {
    if (isSettled || !source.readOn?.(ending)) return false;
    isSettled = true;
    return true;
  };

  /** Sends no error event: the client would not read it. */
  const cutOff = (error: GatewayError) => {
    if (!readsOn()) {
      end(() => ending.failed(error));
      call.abort(error);
      source.stop(error);
    }
    close();
  };
  call.cutOff ??= cutOff;

  const receiver: Receiver = {
    piece(bytes) {
      waiting = false;
      if (isSettled) return;
      receivedAt = sentAt = performance.now();
      controller.enqueue(body.piece(bytes));
    },
    end() {
      waiting = false;
      if (isSettled) return;
      receivedAt = sentAt = performance.now();
      const { error } = source;
      const last = body.end();
      if (last) controller.enqueue(last);
      if (error) {
        end(() => ending.failed(error));
        if (!codec.framing.errorEndsStream) return flush();
        const told = toClientError(error, call);
        controller.enqueue(body.error(codec.encodeStreamError(told, call.id, false, source.broken?.()), ""));
        return finish();
      }
      end(() => ending.complete());
      finish();
    },
    fail(thrown) {
      waiting = false;
      if (!isSettled) fail(thrown);
    },
  };

  return new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        clock.add(watcher);
      },
      pull() {
        // The stream stays open, so that closing the connection is not a regular end of the body.
        if (isSettled) return flush();
        // The server pulls again after a heartbeat.
        if (waiting) return;
        if (source.isWaiting && !isHeadSent) {
          isHeadSent = true;
          return controller.enqueue(body.heartbeat);
        }
        waiting = true;
        source.take(receiver);
      },
      cancel(reason) {
        waiting = false;
        clock.remove(watcher);
        if (readsOn()) return;
        call.abort(clientLeft());
        source.stop(reason);
        end(() => ending.cancelled());
      },
    },
    { highWaterMark: 0 },
  );
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
