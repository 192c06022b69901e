/** Reads HTTP/1.1 requests out of the bytes of one connection: whole head, then a body by length or in chunks. */

export interface ReadRequest {
  method: string;
  path: string;
  /** As they stood on the wire: names in their own spelling, in order, repeats kept. */
  rawHeaders: [string, string][];
  headers: Headers;
  body: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

export class RequestReader {
  #parts: Buffer[] = [];
  #size = 0;
  /** Bytes that must be there before another try makes sense; keeps long bodies linear. */
  #wanted = 0;

  /** Takes the next bytes and gives the requests they complete. */
  push(bytes: Uint8Array): ReadRequest[] {
    this.#parts.push(Buffer.from(bytes));
    this.#size += bytes.length;
    const requests: ReadRequest[] = [];
    while (this.#size >= this.#wanted && this.#size > 0) {
      const request = this.#read();
      if (!request) break;
      requests.push(request);
    }
    return requests;
  }

  #read(): ReadRequest | undefined {
    const buffer = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [buffer];
    const headEnd = buffer.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const head = readHead(buffer.toString("latin1", 0, headEnd));
    const start = headEnd + HEAD_END.length;
    const body = isChunked(head.headers)
      ? readChunks(buffer, start)
      : readLength(buffer, start, Number(head.headers.get("content-length") ?? 0));
    if (!body.whole) {
      this.#wanted = body.end;
      return undefined;
    }
    const rest = buffer.subarray(body.end);
    this.#parts = [rest];
    this.#size = rest.length;
    this.#wanted = 0;
    return { ...head, body: Buffer.concat(body.pieces) };
  }
}

function readHead(text: string): Omit<ReadRequest, "body"> {
  const [first = "", ...lines] = text.split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const rawHeaders = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { method, path, rawHeaders, headers: new Headers(rawHeaders) };
}

function isChunked(headers: Headers): boolean {
  return /\bchunked\b/i.test(headers.get("transfer-encoding") ?? "");
}

interface BodyRead {
  whole: boolean;
  /** Where the body ends, or how many bytes there must be before it can. */
  end: number;
  pieces: Buffer[];
}

function readLength(buffer: Buffer, start: number, length: number): BodyRead {
  const end = start + length;
  return { whole: buffer.length >= end, end, pieces: [buffer.subarray(start, end)] };
}

function readChunks(buffer: Buffer, start: number): BodyRead {
  const pieces: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = buffer.indexOf(LINE_END, at);
    if (lineEnd < 0) return { whole: false, end: buffer.length + 1, pieces };
    const size = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (buffer.length < end) return { whole: false, end, pieces };
    if (size === 0) return { whole: true, end, pieces };
    pieces.push(buffer.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}
