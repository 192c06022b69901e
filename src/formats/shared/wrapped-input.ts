/**
 * The input of a custom tool is text. Where weir had to send the tool as a function, the model writes the object
 * `{"input":"…"}`, and weir streams the bare text to the client.
 */
import { isObject, parseJson } from "../../core/json.ts";

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** Longest head that weir searches for the member, in UTF-16 units. */
const MAX_HEAD = 64;

/** Converts fragments of the object's JSON to fragments of the text. */
export class WrappedInput {
  /** All fragments, in case the object has another shape. */
  #all = "";
  /** Undecoded JSON after the opening quote. */
  #rest: string | undefined;
  #closed = false;

  /** Takes a fragment of the object and returns the text it completes. */
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

  /** Returns the rest: all of the text if the object had another shape. */
  end(): string {
    if (this.#rest !== undefined) return "";
    const value = parseJson(this.#all);
    return isObject(value) && typeof value.input === "string" ? value.input : this.#all;
  }

  /** Decodes complete characters and escapes up to the closing quote. */
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

/** Length of one encoded character. A surrogate pair stays together, because clients decode each fragment by itself. */
function lengthAt(rest: string, at: number): number {
  if (rest[at] !== "\\") return 1;
  if (rest[at + 1] !== "u") return 2;
  return /^\\ud[89ab]/i.test(rest.slice(at, at + 4)) && isEscape(rest, at + 6) ? 12 : 6;
}

/** Whether a `\u` escape follows, or may follow in the next fragment. */
function isEscape(rest: string, at: number): boolean {
  return "\\u".startsWith(rest.slice(at, at + 2));
}
