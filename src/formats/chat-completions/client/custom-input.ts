/**
 * Input of a custom tool that had to travel as a function: an upstream without custom tools sees a function with one
 * string argument, `{"input": "…"}`, and the client gets the bare text again while it streams (contract E.1.4, E.5).
 */
import { isObject, parseJson } from "../../../core/json.ts";

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** A head that may still be cut off. */
const HEAD_LENGTH = 64;

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Turns fragments of the wrapped JSON into fragments of the text. */
export class CustomInput {
  #text = "";
  /** Where the next unread character of the string stands; -1 until the string has begun. */
  #at = -1;
  #state: "before" | "inside" | "behind" = "before";

  push(fragment: string): string {
    this.#text += fragment;
    if (this.#state === "before" && this.#text.length < 4096) this.#begin();
    return this.#state === "inside" ? this.#read() : "";
  }

  /** What is left at the end: all of an input that was not wrapped as expected. */
  rest(): string {
    if (this.#state !== "before") return "";
    const value = parseJson(this.#text);
    return isObject(value) && typeof value.input === "string" ? value.input : this.#text;
  }

  #begin(): void {
    const head = HEAD.exec(this.#text.slice(0, HEAD_LENGTH));
    if (!head) return;
    this.#state = "inside";
    this.#at = head[0].length;
  }

  /** Reads whole characters; an escape that is cut off waits for its rest. */
  #read(): string {
    let read = "";
    while (this.#at < this.#text.length) {
      const stop = this.#nextSpecial();
      read += this.#text.slice(this.#at, stop);
      this.#at = stop;
      if (stop === this.#text.length) break;
      if (this.#text[stop] === '"') {
        this.#state = "behind";
        break;
      }
      const escape = this.#escape(stop);
      if (!escape) break;
      read += escape.character;
      this.#at += escape.length;
    }
    return read;
  }

  #nextSpecial(): number {
    let at = this.#at;
    while (at < this.#text.length && this.#text[at] !== '"' && this.#text[at] !== "\\") at++;
    return at;
  }

  #escape(at: number): { character: string; length: number } | undefined {
    const kind = this.#text[at + 1];
    if (kind === undefined) return undefined;
    if (kind !== "u") return { character: ESCAPES[kind] ?? kind, length: 2 };
    if (at + 6 > this.#text.length) return undefined;
    return {
      character: String.fromCharCode(Number.parseInt(this.#text.slice(at + 2, at + 6), 16)),
      length: 6,
    };
  }
}
