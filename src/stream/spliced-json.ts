/** JSON with strings of megabytes, which are neither decoded nor copied. */
import { type Json, parseJson } from "../core/json.ts";

/** A string at least this long stays outside. Bytes. */
const LONG = 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A mark is a string that no vendor sends. */
const MARK = /"\\u0000(\d+)"/;

export interface SplicedJson {
  /** Long strings are marks, whose strings {@link longOf} finds. */
  readonly value: Json;
  /** The long strings as they are between their quotes. */
  readonly long: readonly Uint8Array[];
}

/** @returns undefined for what is no JSON */
export function readSpliced(bytes: Uint8Array): SplicedJson | undefined {
  const long: Uint8Array[] = [];
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; ;) {
    const start = bytes.indexOf(QUOTE, at);
    if (start < 0) break;
    const end = endOfString(bytes, start + 1);
    if (end < 0) return undefined;
    if (end - start > LONG) {
      pieces.push(bytes.subarray(from, start), Buffer.from(markOf(long.length)));
      long.push(bytes.subarray(start + 1, end));
      from = end + 1;
    }
    at = end + 1;
  }
  pieces.push(bytes.subarray(from));
  const value = parseJson(Buffer.concat(pieces).toString()) as Json | undefined;
  return value === undefined ? undefined : { value, long };
}

/** The bytes of a string that stayed outside; undefined for other strings. */
export function longOf(text: string, { long }: SplicedJson): Uint8Array | undefined {
  return text.startsWith("\0") ? long[Number(text.slice(1))] : undefined;
}

/** Collects strings that {@link write} puts into JSON as they are. */
export class JsonSplicer {
  readonly #long: Uint8Array[] = [];

  /** @returns what stands for the string in the value; texts stay what they are */
  mark(text: string | Uint8Array): string {
    return typeof text === "string" ? text : `\0${this.#long.push(text) - 1}`;
  }

  write(value: Json): Uint8Array | string {
    const text = JSON.stringify(value);
    if (this.#long.length === 0) return text;
    // The texts between marks are at even places, the numbers of the marks at odd ones.
    const pieces = text
      .split(MARK)
      .flatMap((piece, index) =>
        index % 2 === 0 ? [Buffer.from(piece)] : [QUOTES, this.#long[Number(piece)]!, QUOTES],
      );
    return Buffer.concat(pieces);
  }
}

const QUOTES = Buffer.from('"');

function markOf(index: number): string {
  return `"\\u0000${index}"`;
}

function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from; ;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return -1;
    let slashes = 0;
    while (quote - 1 - slashes >= from && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}
