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

/**
 * A status line, then lines of a token, a colon and a value, without control characters but for the tab: one look at all
 * of it. A folded line begins with a space and so has no name (RFC 9112 5.2).
 */
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [^\x00-\x08\x0a-\x1f\x7f]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0a-\x1f\x7f]*)*$/;
const MINOR_AT = "HTTP/1.".length;
const STATUS_AT = "HTTP/1.1 ".length;

/**
 * @param text the head as Latin-1, without the blank line behind it
 * @throws HttpError `EPROTO`
 */
export function parseHead(text: string): Head {
  if (!HEAD.test(text)) throw malformed("its head cannot be read");
  const headers = readHeaders(text);
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const framing = readFraming(status, headers);
  const keepAlive = framing.kind !== "close" && isKept(text[MINOR_AT] === "1", headers);
  return { status, headers, framing, keepAlive };
}

function readHeaders(text: string): HeaderList {
  const headers = new HeaderList();
  const lower = text.toLowerCase();
  for (let at = text.indexOf("\r\n"), count = 0; at >= 0;) {
    if (++count > MAX_HEADERS) throw malformed(`it has more than ${MAX_HEADERS} headers`);
    const colon = text.indexOf(":", at);
    const next = text.indexOf("\r\n", colon);
    headers.add(lower.slice(at + 2, colon), withoutMargins(text, colon + 1, next < 0 ? text.length : next));
    at = next;
  }
  return headers;
}

/** A part of the text without spaces and tabs around it; a pattern would take quadratic time on a value made of spaces. */
function withoutMargins(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isMargin(text.charCodeAt(start))) start++;
  while (end > start && isMargin(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
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

const DIGITS = /^\d{1,15}$/;

/** The same length said several times is one length (RFC 9110 8.6). */
function readLength(text: string): number {
  if (DIGITS.test(text)) return Number(text);
  const [first = "", ...others] = text.split(",").map((part) => part.trim());
  if (!DIGITS.test(first) || others.some((other) => other !== first))
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
