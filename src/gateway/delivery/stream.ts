/**
 * The body of a streamed answer. The server pulls one piece at a time when the client's socket takes more; a stream that
 * pushed would hold in memory everything a slow client does not read.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec } from "../../core/format.ts";
import { writeFrame } from "../../stream/sse.ts";
import type { Clock } from "./clock.ts";
import { toClientError } from "./redact.ts";

/** Where the bytes come from. */
export interface ByteSource {
  /** The next piece; `undefined` at a proper end. Throws when the answer breaks. */
  next(): Promise<Uint8Array | undefined>;
  /** The failure that the provider reported in what was passed on; known when `next` gives the end. */
  readonly error?: GatewayError | undefined;
  /** Bytes that must stand before an error event, when a piece was cut off in mid-event; no sign of life fits there. */
  beforeError?(): string;
  /** Nobody wants the rest. */
  stop(reason: unknown): void;
}

export interface StreamClocks {
  clock: Clock;
  /** Silence towards the client after which a heartbeat is sent. Milliseconds. */
  heartbeatMs: number;
  /** Silence of the upstream after which the call is given up. Milliseconds. */
  gapMs: number;
  /** How long a client may leave unread what it was sent, before it is cut off. Milliseconds. */
  readMs: number;
}

export interface StreamEnding {
  /** The answer is whole and was handed over. */
  complete(): void;
  failed(error: GatewayError): void;
  /** The client left. */
  cancelled(): void;
}

const encoder = new TextEncoder();
/** An event stream's way of saying nothing. */
const COMMENT = encoder.encode(":\n\n");

/**
 * Writes a source out in the client's dialect. A failure becomes an error event of that dialect, and the connection is
 * closed behind it without ending the body: some clients ignore the event and would take a clean end for a whole answer.
 */
export function answerStream(
  source: ByteSource,
  call: Call,
  codec: ClientCodec,
  clocks: StreamClocks,
  ending: StreamEnding,
): ReadableStream<Uint8Array> {
  const heartbeat = encoder.encode(codec.heartbeat);
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let waiting = false;
  let heardAt = performance.now();
  let sentAt = heardAt;
  let over = false;
  /** The answer has failed, and its socket has taken what the client was sent of it. */
  let isFlushed = false;
  /** Sends a comment behind the error event: the server asks for more only when its socket has taken all before. */
  let probe: (() => void) | undefined;
  let isProbed = false;
  /** The connection is being closed. */
  let isClosing = false;

  const watcher = {
    tick(now: number): void {
      if (isClosing) return;
      if (isFlushed) return close();
      if (probe) return probe();
      if (!waiting) return now - sentAt > clocks.readMs ? cutOff(unread(clocks.readMs)) : undefined;
      if (now - heardAt > clocks.gapMs) fail(silence(clocks.gapMs));
      else if (now - sentAt > clocks.heartbeatMs && !call.outcome && !source.beforeError?.()) {
        sentAt = now;
        controller.enqueue(heartbeat);
      }
    },
  };

  const end = (settle: () => void) => {
    if (over) return;
    over = true;
    settle();
  };

  const close = () => {
    isClosing = true;
    clocks.clock.remove(watcher);
    if (call.disconnect) call.disconnect();
    else controller.error(new Error("The answer is not whole."));
  };

  /**
   * Waits until the error event has left. A piece that the server was given may lie in its buffer, and would be lost when
   * the connection is closed.
   */
  const flush = (): Promise<void> => {
    isFlushed = isProbed;
    return new Promise((resolve) => {
      if (isProbed) return;
      probe = () => {
        probe = undefined;
        isProbed = true;
        sentAt = performance.now();
        controller.enqueue(COMMENT);
        resolve();
      };
    });
  };

  const fail = (thrown: unknown) => {
    const error = toClientError(thrown, call);
    end(() => ending.failed(error));
    const frames = codec.encodeStreamError(error, call.id).map(writeFrame).join("");
    sentAt = performance.now();
    waiting = false;
    controller.enqueue(encoder.encode((source.beforeError?.() ?? "") + frames));
    source.stop(error);
    call.abort(error);
  };

  /** No error event: it would lie unread behind all the rest. */
  const cutOff = (error: GatewayError) => {
    end(() => ending.failed(error));
    call.abort(error);
    source.stop(error);
    close();
  };
  call.cutOff ??= cutOff;

  const pass = (piece: Uint8Array | undefined) => {
    waiting = false;
    if (over) return;
    heardAt = sentAt = performance.now();
    if (piece) return controller.enqueue(piece);
    const { error } = source;
    if (error) {
      end(() => ending.failed(error));
      return flush();
    }
    clocks.clock.remove(watcher);
    end(() => ending.complete());
    controller.close();
  };

  const stumble = (thrown: unknown) => {
    waiting = false;
    if (!over) fail(thrown);
  };

  return new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        clocks.clock.add(watcher);
      },
      pull() {
        // The stream stays open: only then is the end of its connection not a clean one.
        if (over) return flush();
        waiting = true;
        return source.next().then(pass, stumble);
      },
      cancel(reason) {
        waiting = false;
        clocks.clock.remove(watcher);
        call.abort(clientLeft());
        source.stop(reason);
        end(() => ending.cancelled());
      },
    },
    { highWaterMark: 0 },
  );
}

/** What stops everything that was still being done for a client that is gone. */
export function clientLeft(): GatewayError {
  return new GatewayError("cancelled", "The client left before the answer was complete.");
}

function unread(readMs: number): GatewayError {
  const waited = Math.round(readMs / 1000);
  return new GatewayError("cancelled", `The client did not read its answer for ${waited} s and was cut off.`);
}

function silence(gapMs: number): GatewayError {
  return new GatewayError(
    "timeout",
    `The provider sent nothing for ${Math.round(gapMs / 1000)} s in mid-answer.`,
    {
      code: "timeout",
    },
  );
}
