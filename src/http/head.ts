/**
 * Parses the head of an answer strictly (RFC 9112). A head that two parsers could read differently is refused: on a
 * kept-alive connection it could shift the boundaries of the following answers (response smuggling).
 */
import type { HeaderReader } from "../core/headers.ts";
import { malformed } from "./error.ts";

/** How the end of the body is determined. `length`: byte count; `close`: end of the connection. */
export type Framing = { kind: "length"; length: number } | { kind: "chunked" } | { kind: "close" };

export interface Head {
  status: number;
  headers: HeaderList;
  framing: Framing;
  /** The connection may be reused after this answer. */
  keepAlive: boolean;
}

/** Maximum size of a head in bytes. */
export const MAX_HEAD_BYTES = 64 * 1024;
const MAX_HEADERS = 256;

/** The received headers with lower-case names. A list is faster than a map for so few. */
export class HeaderList implements HeaderReader {
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  add(name: string, value: string): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  /** The values of all headers with the name, joined with a comma (RFC 9110, section 5.3). */
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
    const names = this.#names;
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!;
      if (names.indexOf(name) !== at) continue;
      visit(names.includes(name, at + 1) ? this.get(name)! : this.#values[at]!, name);
    }
  }

  get size(): number {
    return this.#names.length;
  }
}

/**
 * A status line, then header lines of a token, a colon and a value without control characters except tab. One pattern checks
 * the whole head. A folded line begins with a space, so it has no token and is refused (RFC 9112, section 5.2).
 */
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [^\x00-\x08\x0a-\x1f\x7f]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0a-\x1f\x7f]*)*$/;
const MINOR_AT = "HTTP/1.".length;
const STATUS_AT = "HTTP/1.1 ".length;

/**
 * @param text the head as Latin-1, without the blank line at its end
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

/** Trims spaces and tabs. A pattern would take quadratic time on a value of spaces. */
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

/** A repeated header with the same length counts once (RFC 9110, section 8.6). */
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

/** The provider's idle timeout in seconds, from `keep-alive: timeout=5`. */
export function keepAliveSeconds(headers: HeaderReader): number | undefined {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(headers.get("keep-alive") ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
