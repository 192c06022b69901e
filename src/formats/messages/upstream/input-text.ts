/**
 * Reads the text out of `{"input":"…"}` as it streams in: a free-form tool's input travels as the one member of an object
 * (contract E.1.4), and its client wants the text, piece by piece.
 */
import { isObject, parseJson } from "../../../core/json.ts";

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;

export class InputText {
  /** Everything that came, for an object that turns out to look otherwise. */
  #all = "";
  /** Behind the opening quote: what has not been decoded yet. */
  #rest: string | undefined;
  #closed = false;

  /** Takes a fragment of the object; gives the text it completes. */
  push(fragment: string): string {
    this.#all += fragment;
    if (this.#closed) return "";
    if (this.#rest !== undefined) this.#rest += fragment;
    else {
      const head = HEAD.exec(this.#all);
      if (!head) return "";
      this.#rest = this.#all.slice(head[0].length);
    }
    return this.#decode();
  }

  /** What is left at the end: all of it, when the object was not of the expected shape. */
  end(): string {
    if (this.#rest !== undefined) return "";
    const value = parseJson(this.#all);
    return isObject(value) && typeof value.input === "string" ? value.input : this.#all;
  }

  /** Decodes whole characters and escapes up to the closing quote. */
  #decode(): string {
    const rest = this.#rest!;
    let end = 0;
    while (end < rest.length) {
      if (rest[end] === '"') {
        this.#closed = true;
        break;
      }
      const length = rest[end] !== "\\" ? 1 : rest[end + 1] === "u" ? 6 : 2;
      if (end + length > rest.length) break;
      end += length;
    }
    this.#rest = rest.slice(end);
    const text = parseJson(`"${rest.slice(0, end)}"`);
    return typeof text === "string" ? text : rest.slice(0, end);
  }
}
