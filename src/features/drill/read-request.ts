/** Reads one HTTP/1.1 request from a socket. The drill answers one request on each connection. */
import type { Socket } from "node:net";

export interface HttpRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

/** Reads until the request is complete. @returns undefined if the connection closes before */
export function readRequest(socket: Socket): Promise<HttpRequest | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    let isContinued = false;
    socket.on("data", (more: Buffer) => {
      bytes = Buffer.concat([bytes, more]);
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) return;
      const head = readHead(bytes.toString("latin1", 0, end));
      const body = readBody(head.headers, bytes.subarray(end + HEAD_END.length));
      if (body) return resolve({ ...head, body });
      if (!isContinued && valueOf(head.headers, "expect")) {
        isContinued = true;
        socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      }
    });
    socket.on("close", () => resolve(undefined));
  });
}

function readHead(text: string): Omit<HttpRequest, "body"> {
  const [first = "", ...lines] = text.split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { method, target, headers };
}

function valueOf(headers: HttpRequest["headers"], name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1];
}

/** @returns undefined while the body is not complete */
function readBody(headers: HttpRequest["headers"], bytes: Buffer): Buffer | undefined {
  if (valueOf(headers, "transfer-encoding")?.toLowerCase().includes("chunked")) return readChunks(bytes);
  const length = Number(valueOf(headers, "content-length") ?? 0);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

function readChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let from = 0; ;) {
    const lineEnd = bytes.indexOf(LINE_END, from);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", from, lineEnd), 16);
    const start = lineEnd + LINE_END.length;
    if (!(size > 0)) return Buffer.concat(chunks);
    if (bytes.length < start + size + LINE_END.length) return undefined;
    chunks.push(bytes.subarray(start, start + size));
    from = start + size + LINE_END.length;
  }
}
