/** What a program prints, as lines of JSON: bounded, whatever it prints. */
import { isObject, type JsonObject } from "../../../../core/json.ts";
import { scanBody, stringEnd } from "../../../../stream/scan.ts";
import { parseExact } from "../../../../core/exact-json.ts";
import type { RequestId } from "../../wire/messages.ts";

/** Longest line. Bytes, without its end. */
export const LINE_BYTES = 16 * 1024 * 1024;
/** Deepest nesting of a message: recursive code would fail on a deeper one, and parsing it takes seconds. */
const DEPTH = 64;
/** Most members of a message; JSON-RPC has four. */
const MEMBERS = 64;
/** Most values of a message: each may take fifty times its bytes. Shorter lines are not counted. */
const VALUES = 1_000_000;
const COUNTED_BYTES = 1024 * 1024;
/** A buffer that grew larger is not kept for the next line. Bytes. */
const KEPT_BYTES = 64 * 1024;

/** A line is longer than {@link LINE_BYTES}. */
export class LineTooLong extends Error {}

/** Divides bytes into lines. It never holds more than one line that has begun. */
export class LineBuffer {
  readonly #most: number;
  #held = new Uint8Array(0);
  #length = 0;

  constructor(most = LINE_BYTES) {
    this.#most = most;
  }

  /**
   * The lines that end in a piece, without their ends. The bytes of a line are valid until the next one is taken.
   * @throws LineTooLong
   */
  *take(piece: Uint8Array): Generator<Uint8Array> {
    let from = 0;
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
      const part = piece.subarray(from, end);
      from = end + 1;
      if (this.#length + part.length > this.#most) throw new LineTooLong();
      if (this.#length === 0) yield part;
      else yield this.#whole(part);
    }
    if (from < piece.length) this.#hold(piece.subarray(from));
  }

  #whole(part: Uint8Array): Uint8Array {
    this.#hold(part);
    const line = this.#held.subarray(0, this.#length);
    this.#length = 0;
    if (this.#held.length > KEPT_BYTES) this.#held = new Uint8Array(0);
    return line;
  }

  /** Copies: pieces of a byte each would cost a hundred times their length. */
  #hold(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#most) throw new LineTooLong();
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.min(Math.max(2 * length, 4096), this.#most));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(part, this.#length);
    this.#length = length;
  }
}

/** What a line is. */
export type Line =
  | { readonly kind: "blank" }
  /** `messages`: one, or those of a batch, which revision 2025-03-26 has. */
  | { readonly kind: "told"; readonly messages: readonly JsonObject[] }
  /** A message that would cost too much. `id`: its own or that of the request that it answers, where it says so. `why`: a clause */
  | { readonly kind: "unread"; readonly id: RequestId | undefined; readonly why: string }
  /** No JSON-RPC message. `why`: a clause */
  | { readonly kind: "other"; readonly why: string };

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function readLine(bytes: Uint8Array): Line {
  const first = bytes.find((byte) => byte > 0x20);
  if (first === undefined) return { kind: "blank" };
  const { tooDeep, tooMany } = scanBody(bytes, DEPTH, MEMBERS);
  if (tooDeep) return { kind: "unread", id: idIn(bytes), why: "is nested too deeply" };
  if (tooMany) return { kind: "other", why: "has too many members" };
  if (bytes.length > COUNTED_BYTES && valuesIn(bytes) > VALUES)
    return { kind: "unread", id: idIn(bytes), why: "has too many values" };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { kind: "other", why: "is not valid UTF-8" };
  }
  try {
    const value = parseExact(text);
    const messages = Array.isArray(value) ? value : [value];
    if (messages.length > 0 && messages.every(isObject)) return { kind: "told", messages };
  } catch {
    return { kind: "other", why: "is not JSON" };
  }
  return { kind: "other", why: "is no message" };
}

/** About how many values a message has. */
function valuesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++)
    switch (bytes[at]) {
      case 0x22: // A string.
        at = stringEnd(bytes, at);
        break;
      case 0x2c: // , [ {
      case 0x5b:
      case 0x7b:
        count++;
    }
  return count;
}

/** The id of a message that is not parsed. */
function idIn(bytes: Uint8Array): RequestId | undefined {
  const span = scanBody(bytes, Infinity, MEMBERS).members.get("id");
  if (!span || span.end - span.start > 256) return undefined;
  try {
    const id: unknown = JSON.parse(utf8.decode(bytes.subarray(span.start, span.end)));
    return typeof id === "number" || typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
