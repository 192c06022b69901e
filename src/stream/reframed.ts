/** Turns a body in another framing into server-sent events, so that both lanes read one framing with the same rules. */
import type { Frame, FrameReader, Framing } from "../core/frame.ts";
import { writeFrame } from "./sse.ts";

/** Reads a body piece by piece. Cancelling closes the connection. */
interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

const encoder = new TextEncoder();

/** Reads the frames of another reader as server-sent events. A read fails if the body is invalid or ends inside a frame. */
export class ReframedReader implements Reader {
  readonly #inner: Reader;
  readonly #frames: FrameReader;
  #ended = false;

  constructor(inner: Reader, framing: Framing) {
    this.#inner = inner;
    this.#frames = framing.reader();
  }

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    while (!this.#ended) {
      const { done, value } = await this.#inner.read();
      this.#ended = done || !value;
      const frames = value && !done ? this.#frames.push(value) : this.#frames.end();
      if (frames.length > 0) return { done: false, value: encoder.encode(frames.map(write).join("")) };
    }
    return { done: true };
  }

  cancel(reason?: unknown): Promise<void> {
    this.#ended = true;
    return this.#inner.cancel(reason);
  }
}

/** JSON holds line breaks only between its tokens, where a space means the same. */
function write({ event, data }: Frame): string {
  const isOneLine = !data.includes("\n") && !data.includes("\r");
  const line = isOneLine ? data : data.replace(/[\r\n]+/g, " ");
  return writeFrame(event === undefined ? { data: line } : { event, data: line });
}

const JSON_TYPE = "application/json";

/**
 * Whether an answer is a stream.
 * @param framing of the host; absent: server-sent events
 * @param requested whether the request asked for a stream
 */
export function isStream(contentType: string, framing: Framing | undefined, requested: boolean): boolean {
  if (!framing) return contentType.includes("text/event-stream");
  if (!contentType.includes(framing.contentType)) return false;
  return requested || !framing.contentType.includes(JSON_TYPE);
}
