/**
 * The head of an answer, read strictly (RFC 9112): a head that two readers could understand differently is refused,
 * because on a kept connection the next answer would pay for it.
 */
import type { HeaderReader } from "../core/format.ts";
import { malformed } from "./error.ts";

/** Where the body ends. `length`: after that many bytes; `close`: when the connection does. */
export type Framing = { kind: "length"; length: number } | { kind: "chunked" } | { kind: "close" };

export interface Head {
  status: number;
  headers: HeaderList;
  framing: Framing;
  /** The connection may carry another request behind this answer. */
  keepAlive: boolean;
}

/** Most bytes of a head. */
export const MAX_HEAD_BYTES = 64 * 1024;
const MAX_HEADERS = 256;

/** Headers as they came, names in lower case. A handful: looked up by walking. */
export class HeaderList implements HeaderReader {
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  add(name: string, value: string): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  /** The values of that name, joined by a comma as RFC 9110 5.3 has it. */
  get(name: string): string | null {
    const first = this.#names.indexOf(name);
    if (first < 0) return null;
    let value = this.#values[first]!;
    for (let at = this.#names.indexOf(name, first + 1); at >= 0; at = this.#names.indexOf(name, at + 1))
      value += `, ${this.#values[at]}`;
    return value;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  forEach(visit: (value: string, name: string) => void): void {
    this.#names.forEach((name, at) => {
      if (this.#names.indexOf(name) === at) visit(this.get(name)!, name);
    });
  }

  get size(): number {
    return this.#names.length;
  }
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?$/;
/** Control characters, but for the tab and the CR LF that ends a line. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
/** RFC 9110 5.6.2. A folded line begins with a space, so its name is none. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Header names as upstreams write them → in lower case. The same few come again with every answer. */
const knownNames = new Map<string, string>();
const MOST_NAMES = 2_000;

function readName(written: string): string {
  const known = knownNames.get(written);
  if (known !== undefined) return known;
  if (!TOKEN.test(written)) throw malformed("a header line cannot be read");
  const name = written.toLowerCase();
  if (knownNames.size < MOST_NAMES) knownNames.set(written, name);
  return name;
}

/**
 * @param text the head as Latin-1, without the blank line behind it
 * @throws HttpError `EPROTO`
 */
export function parseHead(text: string): Head {
  if (CONTROL.test(text)) throw malformed("its head holds control characters");
  const lines = text.split("\r\n");
  const line = STATUS_LINE.exec(lines[0]!);
  if (!line) throw malformed("its status line cannot be read");
  if (lines.length > MAX_HEADERS + 1) throw malformed(`it has more than ${MAX_HEADERS} headers`);
  const headers = new HeaderList();
  for (let at = 1; at < lines.length; at++) {
    const colon = lines[at]!.indexOf(":");
    headers.add(readName(lines[at]!.slice(0, Math.max(0, colon))), withoutMargins(lines[at]!, colon + 1));
  }
  const status = Number(line[2]);
  const framing = readFraming(status, headers);
  return {
    status,
    headers,
    framing,
    keepAlive: framing.kind !== "close" && isKept(line[1] === "1", headers),
  };
}

/** What follows, without spaces and tabs around it; a pattern would take quadratic time on a value made of spaces. */
function withoutMargins(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isMargin(line.charCodeAt(start))) start++;
  while (end > start && isMargin(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isMargin(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function readFraming(status: number, headers: HeaderList): Framing {
  const encoding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (status < 200 || status === 204 || status === 304) return { kind: "length", length: 0 };
  if (encoding !== null) {
    if (length !== null) throw malformed("it has both a length and a transfer encoding");
    if (encoding.toLowerCase() !== "chunked") throw malformed("its transfer encoding is not chunked");
    return { kind: "chunked" };
  }
  if (length === null) return { kind: "close" };
  return { kind: "length", length: readLength(length) };
}

/** The same length said several times is one length (RFC 9110 8.6). */
function readLength(text: string): number {
  const [first = "", ...others] = text.split(",").map((part) => part.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first))
    throw malformed("its length cannot be read");
  return Number(first);
}

function isKept(isCurrent: boolean, headers: HeaderList): boolean {
  const connection = headers.get("connection")?.toLowerCase();
  if (connection === undefined) return isCurrent;
  const options = connection.split(",").map((option) => option.trim());
  if (options.includes("close")) return false;
  return isCurrent || options.includes("keep-alive");
}

/** Seconds after which the other side closes an idle connection, when it says so (`keep-alive: timeout=5`). */
export function keepAliveSeconds(headers: HeaderReader): number | undefined {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(headers.get("keep-alive") ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
