/**
 * The body of a streamed answer: bytes are pulled, one piece at a time, when the client is ready for them. It is a
 * native stream and not a generator because only that one shows a failure to the client (runtime finding 3), and it
 * pulls because a pushed one holds everything a slow client does not read (finding 6).
 */
import type { Call } from "../core/call.ts";
import { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import { writeFrame } from "../stream/sse.ts";
import type { Clock } from "./clock.ts";
import { tellable } from "./redact.ts";

/** Where the bytes come from. */
export interface ByteSource {
  /** The next piece; `undefined` at a proper end. Throws when the answer breaks. */
  next(): Promise<Uint8Array | undefined>;
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

/** Writes a source out in the client's dialect; a failure becomes its in-band error event, with no terminator after. */
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

  const watcher = {
    tick(now: number): void {
      if (!waiting) return now - sentAt > clocks.readMs ? cutOff(unread(clocks.readMs)) : undefined;
      if (now - heardAt > clocks.gapMs) fail(silence(clocks.gapMs));
      else if (now - sentAt > clocks.heartbeatMs && !source.beforeError?.()) {
        sentAt = now;
        controller.enqueue(heartbeat);
      }
    },
  };

  const end = (settle: () => void) => {
    if (over) return;
    over = true;
    clocks.clock.remove(watcher);
    settle();
  };

  const fail = (thrown: unknown) => {
    const error = tellable(thrown, call);
    end(() => ending.failed(error));
    const frames = codec.encodeStreamError(error, call.id).map(writeFrame).join("");
    controller.enqueue(encoder.encode((source.beforeError?.() ?? "") + frames));
    controller.close();
    source.stop(error);
    call.abort(error);
  };

  /** No error event: it would lie unread behind all the rest. */
  const cutOff = (error: GatewayError) => {
    end(() => ending.failed(error));
    call.abort(error);
    source.stop(error);
    controller.error(error);
  };

  const pass = (piece: Uint8Array | undefined) => {
    waiting = false;
    if (over) return;
    heardAt = sentAt = performance.now();
    if (piece) return controller.enqueue(piece);
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
        waiting = true;
        return source.next().then(pass, stumble);
      },
      cancel(reason) {
        waiting = false;
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
