/**
 * Reads server-sent events with megabytes of base64 as they pass. The bytes pass at once, also parts of events: to hold whole events
 * would take their memory for each client.
 */
import type { StreamObserver, StreamSummary } from "../core/stream-observer.ts";
import { LongStrings } from "./long-strings.ts";
import { lastEventEnd, parseFrames } from "./sse.ts";

/** An event that is longer without its long strings is not read. Bytes. */
const MOST_READ = 1024 * 1024;

/** The answer has begun when this much of its first event has come, whatever it is. Bytes. */
const FIRST_BYTES = 64 * 1024;

const BLANK_LINE = Buffer.from("\n\n");
/** Every event is read, without its long strings. */
export class LongEvents {
  readonly seen: StreamSummary = { terminated: false, complete: false };
  readonly watch: StreamObserver;
  started = false;
  failedFirst = false;
  readonly output = 0;
  readonly outputTokens = 0;
  readonly #strings = new LongStrings();
  /** The event that has begun. */
  #held: Uint8Array = new Uint8Array(0);
  #isTooLong = false;
  #passed = 0;

  constructor(watch: StreamObserver) {
    this.watch = watch;
  }

  /** The bytes so far end inside of an event. */
  get midEvent(): boolean {
    return this.#held.length > 0 || this.#isTooLong;
  }

  push(bytes: Uint8Array): Uint8Array | undefined {
    if (bytes.length === 0) return undefined;
    this.#passed += bytes.length;
    this.#held = Buffer.concat([this.#held, ...this.#strings.push(bytes)]);
    const end = lastEventEnd(this.#held);
    if (end > 0) {
      if (!this.#isTooLong) this.#read(this.#held.subarray(0, end));
      this.#isTooLong = false;
      this.#held = this.#held.subarray(end);
    }
    if (this.#held.length > MOST_READ) {
      this.#isTooLong = true;
      this.#held = this.#held.subarray(-2);
    }
    this.started ||= this.#passed > FIRST_BYTES;
    return bytes;
  }

  /** Reads the event that the end of the body ends. Its bytes have passed. */
  rest(): undefined {
    if (!this.#isTooLong && this.#held.length > 0) this.#read(Buffer.concat([this.#held, BLANK_LINE]));
    this.#held = new Uint8Array(0);
    return undefined;
  }

  #read(events: Uint8Array): void {
    for (const frame of parseFrames(events)) {
      this.watch.frame(frame, this.seen);
      if (!this.started) this.failedFirst = this.seen.error !== undefined;
      this.started = true;
    }
  }
}
