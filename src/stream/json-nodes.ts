/** Reads JSON with the ranges of its values, so that a part of it can be replaced in the bytes. */
import type { Json } from "../core/json.ts";
import { isSpace, type Span } from "./scan.ts";

/** A value of JSON in its bytes. */
export interface BytesNode extends Span {
  readonly type: "object" | "array" | "string" | "other";
  /** The value; `undefined` for an object and for a list. */
  scalar(): Json | undefined;
  /** The members of an object in their order; a name may come twice. */
  entries(): Iterable<readonly [string, BytesNode]>;
  /** The items of a list. */
  items(): Iterable<BytesNode>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

type Entry = readonly [string, BytesNode];

const NO_ENTRIES: readonly Entry[] = [];
const NO_ITEMS: readonly BytesNode[] = [];

/** What is no letter of ASCII, in bytes that are read one by one. */
const BEYOND_ASCII = /[\x80-\xff]/;

/** The bytes, with one string of all of them: a part of it costs less than to decode each string by itself. */
class Source {
  readonly #bytes: Buffer;
  readonly #isAscii: boolean;
  /** A character for each byte. */
  readonly latin: string;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.latin = this.#bytes.toString("latin1");
    this.#isAscii = Buffer.byteLength(this.latin) === this.latin.length;
  }

  /** @param start of the quote @param end behind the closing quote */
  string(start: number, end: number): string {
    const latin = this.latin.slice(start + 1, end - 1);
    const inner =
      this.#isAscii || !BEYOND_ASCII.test(latin) ? latin : this.#bytes.toString("utf8", start + 1, end - 1);
    return inner.includes("\\") ? (JSON.parse(`"${inner}"`) as string) : inner;
  }

  /** A number or a word. */
  other(start: number, end: number): Json {
    return JSON.parse(this.latin.slice(start, end)) as Json;
  }
}

class Node implements BytesNode {
  readonly #source: Source;
  readonly start: number;
  readonly end: number;
  readonly type: BytesNode["type"];
  readonly #entries: readonly Entry[];
  readonly #items: readonly BytesNode[];

  constructor(
    source: Source,
    start: number,
    end: number,
    type: BytesNode["type"],
    entries: readonly Entry[] = NO_ENTRIES,
    items: readonly BytesNode[] = NO_ITEMS,
  ) {
    this.#source = source;
    this.start = start;
    this.end = end;
    this.type = type;
    this.#entries = entries;
    this.#items = items;
  }

  scalar(): Json | undefined {
    if (this.type === "string") return this.#source.string(this.start, this.end);
    if (this.type === "other") return this.#source.other(this.start, this.end);
    return undefined;
  }

  entries(): readonly Entry[] {
    return this.#entries;
  }

  items(): readonly BytesNode[] {
    return this.#items;
  }
}

/** Digits of the shortest number that may be that of a person: a telephone number. */
export const LEAST_DIGITS = 7;

/** Whether a value that is no text may be a number of as many digits. */
export function mayBeValue({ type, start, end }: Pick<BytesNode, "type" | "start" | "end">): boolean {
  return type === "other" && end - start >= LEAST_DIGITS;
}

/** A number without its point and its exponent: `4.1e2` is `410`. All of its digits stay. */
export function numberAt(bytes: Uint8Array, { start, end }: Pick<BytesNode, "start" | "end">): string {
  const written = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "latin1",
    start,
    end,
  );
  return /[.eE]/.test(written) ? String(Number(written)) : written;
}

/** @param bytes valid JSON, whose depth has been checked */
export function readJson(bytes: Uint8Array): BytesNode {
  return new Reader(bytes).value();
}

class Reader {
  readonly #source: Source;
  readonly #text: string;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#source = new Source(bytes);
    this.#text = this.#source.latin;
  }

  value(): BytesNode {
    const first = this.#next();
    const start = this.#at;
    if (first === OPEN_BRACE) return this.#object(start);
    if (first === OPEN_BRACKET) return this.#array(start);
    if (first === QUOTE) return new Node(this.#source, start, this.#stringEnd(), "string");
    const text = this.#text;
    while (this.#at < text.length && !isEnd(text.charCodeAt(this.#at))) this.#at++;
    return new Node(this.#source, start, this.#at, "other");
  }

  #object(start: number): BytesNode {
    const text = this.#text;
    const entries: Entry[] = [];
    for (this.#at++; this.#at < text.length;) {
      const byte = this.#next();
      if (byte === CLOSE_BRACE) {
        this.#at++;
        break;
      }
      if (byte === COMMA) {
        this.#at++;
        continue;
      }
      const name = this.#source.string(this.#at, this.#stringEnd());
      if (this.#next() === COLON) this.#at++;
      entries.push([name, this.value()]);
    }
    return new Node(this.#source, start, this.#at, "object", entries);
  }

  #array(start: number): BytesNode {
    const text = this.#text;
    const items: BytesNode[] = [];
    for (this.#at++; this.#at < text.length;) {
      const byte = this.#next();
      if (byte === CLOSE_BRACKET) {
        this.#at++;
        break;
      }
      if (byte === COMMA) this.#at++;
      else items.push(this.value());
    }
    return new Node(this.#source, start, this.#at, "array", NO_ENTRIES, items);
  }

  #next(): number {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }

  /** Moves behind a string, and returns where that is. */
  #stringEnd(): number {
    let end = this.#text.indexOf('"', this.#at + 1);
    while (end >= 0 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1);
    this.#at = (end < 0 ? this.#text.length : end) + 1;
    return this.#at;
  }
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (quote - first) % 2 === 1;
}

/** Whether a byte ends a number or a word. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

/** A copy of JSON in which texts replace some of its strings. @param texts with the ranges of the strings, in their order */
export function withStrings(bytes: Uint8Array, texts: Iterable<Span & { text: string }>): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of texts) {
    parts.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(text)));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}
