/** Reads JSON with the ranges of its values, so that a part of it can be replaced in the bytes. */
import type { Json } from "../core/json.ts";
import { isSpace, type Span, stringEnd } from "./scan.ts";

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
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

type Entry = readonly [string, BytesNode];

const NO_ENTRIES: readonly Entry[] = [];
const NO_ITEMS: readonly BytesNode[] = [];

class Node implements BytesNode {
  readonly #text: Buffer;
  readonly start: number;
  readonly end: number;
  readonly type: BytesNode["type"];
  readonly #entries: readonly Entry[];
  readonly #items: readonly BytesNode[];

  constructor(
    text: Buffer,
    { start, end }: Span,
    type: BytesNode["type"],
    entries: readonly Entry[] = NO_ENTRIES,
    items: readonly BytesNode[] = NO_ITEMS,
  ) {
    this.#text = text;
    this.start = start;
    this.end = end;
    this.type = type;
    this.#entries = entries;
    this.#items = items;
  }

  scalar(): Json | undefined {
    if (this.type === "string") return stringAt(this.#text, this.start, this.end);
    if (this.type === "other") return JSON.parse(this.#text.toString("utf8", this.start, this.end)) as Json;
    return undefined;
  }

  entries(): readonly Entry[] {
    return this.#entries;
  }

  items(): readonly BytesNode[] {
    return this.#items;
  }
}

/** @param end behind the closing quote */
function stringAt(text: Buffer, start: number, end: number): string {
  const inner = text.toString("utf8", start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(`"${inner}"`) as string) : inner;
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
  readonly #text: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  value(): BytesNode {
    const first = this.#next();
    const start = this.#at;
    if (first === OPEN_BRACE) return this.#object(start);
    if (first === OPEN_BRACKET) return this.#array(start);
    if (first === QUOTE) return new Node(this.#text, { start, end: this.#stringEnd() }, "string");
    const text = this.#text;
    while (this.#at < text.length && !isEnd(text[this.#at]!)) this.#at++;
    return new Node(text, { start, end: this.#at }, "other");
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
      const name = stringAt(text, this.#at, this.#stringEnd());
      if (this.#next() === COLON) this.#at++;
      entries.push([name, this.value()]);
    }
    return new Node(text, { start, end: this.#at }, "object", entries);
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
    return new Node(text, { start, end: this.#at }, "array", NO_ENTRIES, items);
  }

  #next(): number {
    while (this.#at < this.#text.length && isSpace(this.#text[this.#at]!)) this.#at++;
    return this.#text[this.#at]!;
  }

  /** Moves behind a string, and returns where that is. */
  #stringEnd(): number {
    this.#at = stringEnd(this.#text, this.#at) + 1;
    return this.#at;
  }
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
