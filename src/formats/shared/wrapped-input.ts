/**
 * A free-form tool has text for input. Where it had to travel as a function, its input is the object `{"input":"…"}`, and
 * the client gets the bare text again while it streams.
 */
import { isObject, parseJson } from "../../core/json.ts";

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** An object whose beginning is longer than this does not look as expected. UTF-16 units. */
const MAX_HEAD = 64;

/** Turns fragments of the object's JSON into fragments of the text. */
export class WrappedInput {
  /** All fragments, for an object that turns out to look otherwise. */
  #all = "";
  /** Behind the opening quote: what has not been decoded yet. */
  #rest: string | undefined;
  #closed = false;

  /** Takes a fragment of the object; gives the text it completes. */
  push(fragment: string): string {
    if (this.#closed) return "";
    if (this.#rest !== undefined) this.#rest += fragment;
    else {
      const isHead = this.#all.length < MAX_HEAD;
      this.#all += fragment;
      const head = isHead ? HEAD.exec(this.#all.slice(0, MAX_HEAD)) : null;
      if (!head) return "";
      this.#rest = this.#all.slice(head[0].length);
    }
    return this.#decode();
  }

  /** What is left at the end: all of it, when the object did not look as expected. */
  end(): string {
    if (this.#rest !== undefined) return "";
    const value = parseJson(this.#all);
    return isObject(value) && typeof value.input === "string" ? value.input : this.#all;
  }

  /** Decodes whole characters and escapes up to the closing quote. */
  #decode(): string {
    const rest = this.#rest!;
    let end = 0;
    while (end < rest.length && rest[end] !== '"') {
      const length = lengthAt(rest, end);
      if (end + length > rest.length) break;
      end += length;
    }
    this.#closed = rest[end] === '"';
    this.#rest = rest.slice(end);
    const text = parseJson(`"${rest.slice(0, end)}"`);
    return typeof text === "string" ? text : rest.slice(0, end);
  }
}

/** How much stands for one character. Both halves of a surrogate pair belong together: readers decode each fragment. */
function lengthAt(rest: string, at: number): number {
  if (rest[at] !== "\\") return 1;
  if (rest[at + 1] !== "u") return 2;
  return /^\\ud[89ab]/i.test(rest.slice(at, at + 4)) && isEscape(rest, at + 6) ? 12 : 6;
}

/** Whether an escape of a code unit follows, or may still follow. */
function isEscape(rest: string, at: number): boolean {
  return "\\u".startsWith(rest.slice(at, at + 2));
}
