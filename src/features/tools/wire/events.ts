/** Server-sent events with ids, as the Streamable HTTP transport of MCP uses them. */
import type { ByteReader, ByteStream } from "../../../http/types.ts";
import { CODE, McpError } from "./messages.ts";

export interface ServerEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
  /** Milliseconds to wait before reading on after the stream has ended. */
  readonly retry?: number;
}

/** Largest event of a server. Characters. */
const MOST = 16 * 1024 * 1024;

/** @throws McpError 1005 for an event that is too long */
export async function* readEvents(body: ByteStream): AsyncGenerator<ServerEvent, void> {
  const lines = new Lines();
  const reader = body.getReader();
  let isOver = false;
  try {
    let event = new Draft();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const line of lines.push(value!)) {
        if (line !== "") {
          event.line(line);
          continue;
        }
        const whole = event.event();
        event = new Draft();
        if (whole) yield whole;
      }
    }
    isOver = true;
  } finally {
    if (!isOver) void leave(reader);
  }
}

/** What an answer may still bring after its result, so that its connection serves the next request. Bytes and milliseconds. */
const REST_BYTES = 65_536;
const REST_MS = 500;

/** Reads the rest of a body that has brought its message; a body that goes on is cut. */
export async function leave(reader: ByteReader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), REST_MS);
  try {
    for (let left = REST_BYTES; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value!.length;
    }
    await reader.cancel();
  } catch {
    // The connection has ended.
  } finally {
    clearTimeout(timer);
  }
}

class Draft {
  #data: string[] = [];
  #id: string | undefined;
  #event: string | undefined;
  #retry: number | undefined;

  line(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) this.#retry = Number(value);
  }

  /** An event without data still tells the id to resume from. */
  event(): ServerEvent | undefined {
    if (this.#data.length === 0 && this.#id === undefined && this.#retry === undefined) return undefined;
    return {
      data: this.#data.join("\n"),
      ...(this.#id !== undefined && { id: this.#id }),
      ...(this.#event !== undefined && { event: this.#event }),
      ...(this.#retry !== undefined && { retry: this.#retry }),
    };
  }
}

/** Splits bytes into lines that end with LF, CR or CRLF. */
export class Lines {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #parts: string[] = [];
  #length = 0;
  #endedWithCr = false;

  push(bytes: Uint8Array): string[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (this.#endedWithCr && text.startsWith("\n")) text = text.slice(1);
    if (text === "") return [];
    this.#endedWithCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = this.#parts.join("") + lines[0]!;
      this.#parts = [];
      this.#length = 0;
    }
    if (rest !== "") {
      this.#parts.push(rest);
      this.#length += rest.length;
    }
    if (this.#length > MOST)
      throw new McpError(CODE.invalid, `the server sent a message of more than ${MOST} characters`);
    return lines;
  }

  /** What follows the last line end. */
  rest(): string {
    return this.#parts.join("");
  }
}

/** Text of an event for a client. */
export function eventText(message: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${message}\n\n`;
}
