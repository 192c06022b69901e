/**
 * Converts server-sent events between bytes and frames as the WHATWG HTML standard defines: a line ends with LF, CR or CRLF, a
 * blank line ends an event, comments and unknown fields are ignored, data lines are joined with LF.
 */
import { GatewayError } from "../core/error.ts";
import type { Frame, FrameReader, Framing } from "../core/frame.ts";

/** Maximum length of a buffered event in characters. Without it an endless event would exhaust the memory. */
const MAX_EVENT = 32 * 1024 * 1024;
/** Memory overhead of a line, counted in characters. */
const LINE_COST = 16;

/** Writes a frame; `data` must be one line (JSON is). */
export function writeFrame(frame: Frame): string {
  return frame.event ? `event: ${frame.event}\ndata: ${frame.data}\n\n` : `data: ${frame.data}\n\n`;
}

/** Collects the fields of one event, line by line. */
class EventBuilder {
  #event = "";
  #data: string[] = [];
  /** Number of data characters so far. */
  length = 0;

  /** Takes one line without its ending; a blank line completes the event. */
  line(line: string): Frame | undefined {
    if (line === "") return this.#complete();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      this.#data.push(value);
      this.length += value.length + LINE_COST;
    } else if (field === "event") this.#event = value;
    return undefined;
  }

  #complete(): Frame | undefined {
    const lines = this.#data;
    const event = this.#event;
    this.#data = [];
    this.#event = "";
    this.length = 0;
    if (lines.length === 0) return undefined;
    const data = lines.length === 1 ? lines[0]! : lines.join("\n");
    return event === "" ? { data } : { event, data };
  }
}

/**
 * An incremental parser. Parts of a line are kept in a list and joined once: joining at each chunk would be quadratic for a
 * long line that arrives in small chunks.
 */
export class SseParser implements FrameReader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #event = new EventBuilder();
  #parts: string[] = [];
  /** Length of the incomplete line in characters. */
  #pending = 0;
  #started = false;
  /** The last chunk ended with CR: an LF at the start of the next chunk belongs to it. */
  #afterCr = false;

  /** The last bytes end inside a line. */
  get isMidLine(): boolean {
    return this.#pending > 0;
  }

  /**
   * Processes the next bytes and returns the events that they complete.
   * @throws GatewayError `upstream` when an event is longer than 32 million characters.
   */
  push(bytes: Uint8Array): Frame[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#started && text !== "") {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    const frames: Frame[] = [];
    let start = 0;
    if (this.#afterCr && text !== "") {
      if (text.charCodeAt(0) === 10) start = 1;
      this.#afterCr = false;
    }
    let cr = text.indexOf("\r");
    for (;;) {
      if (cr >= 0 && cr < start) cr = text.indexOf("\r", start);
      const lf = text.indexOf("\n", start);
      const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
      if (end < 0) break;
      const frame = this.#event.line(this.#takeLine(text.slice(start, end)));
      if (frame) frames.push(frame);
      start = end + 1;
      if (text.charCodeAt(end) === 13) {
        if (start === text.length) this.#afterCr = true;
        else if (text.charCodeAt(start) === 10) start++;
      }
    }
    if (start < text.length) {
      this.#parts.push(start === 0 ? text : text.slice(start));
      this.#pending += text.length - start;
    }
    if (this.#pending + this.#event.length > MAX_EVENT) throw tooLong();
    return frames;
  }

  /** The standard drops an incomplete event at the end of a body. */
  end(): Frame[] {
    return [];
  }

  #takeLine(last: string): string {
    if (this.#parts.length === 0) return last;
    this.#parts.push(last);
    const line = this.#parts.join("");
    this.#parts = [];
    this.#pending = 0;
    return line;
  }
}

function tooLong(): GatewayError {
  return new GatewayError("upstream", "The provider's stream holds an event that does not end.", {
    code: "upstream_too_large",
  });
}

/** The events of bytes that contain complete events only. */
export function parseFrames(bytes: Uint8Array): Frame[] {
  return new SseParser().push(bytes);
}

/** Parses a body into frames. An incomplete event at its end is dropped, as the standard requires. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const parser = new SseParser();
  for await (const chunk of chunks) yield* parser.push(chunk);
}

const LF = 10;
const CR = 13;

/** The index after the last blank line in `bytes`, 0 if there is none: the bytes before it are complete events. */
export function lastEventEnd(bytes: Uint8Array): number {
  let at = bytes.lastIndexOf(LF);
  if (at < 0) {
    at = bytes.lastIndexOf(CR);
    return at > 0 && bytes[at - 1] === CR ? at + 1 : 0;
  }
  while (at > 0) {
    const before = bytes[at - 1];
    if (before === LF || (before === CR && at > 1 && bytes[at - 2] === LF)) return at + 1;
    at = bytes.lastIndexOf(LF, at - 1);
  }
  return 0;
}

/** Splits complete events, each with its blank line. Joined, the parts are equal to `bytes`. */
export function* eventsIn(bytes: Uint8Array): Generator<Uint8Array> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  let from = 0;
  for (const { index, 0: blank } of text.matchAll(/\r\n\r\n|\n\r?\n|\r\r/g)) {
    const end = index + blank.length;
    yield bytes.subarray(from, end);
    from = end;
  }
  if (from < bytes.length) yield bytes.subarray(from);
}

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
