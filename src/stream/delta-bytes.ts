/** Counts the text in the events of a stream without parsing them. */

import { parseJson } from "../core/json.ts";
import type { MostTokens } from "../core/tokens/most-tokens.ts";

/** Sums the lengths of the strings that are the values of some members. One kind of member is counted in each event. */
export class DeltaCounter {
  readonly #marks: readonly string[];
  /** Where the mark that was found last is: the next event probably has the same. */
  #last = 0;

  readonly #most: MostTokens | undefined;

  /** @param members names of the members whose strings are pieces of the answer @param most gets these strings */
  constructor(members: readonly string[], most?: MostTokens) {
    this.#marks = members.map((name) => `"${name}":`);
    this.#most = most;
  }

  /** @param text complete events as Latin-1 @returns the length of the strings as they are written. Bytes */
  count(text: string): number {
    let bytes = 0;
    let start = text.startsWith("data:") ? 0 : Math.max(0, text.indexOf(DATA));
    for (let end; (end = text.indexOf(DATA, start + 1)) > 0; start = end)
      bytes += this.#countEvent(text.slice(start, end));
    return bytes + this.#countEvent(start === 0 ? text : text.slice(start));
  }

  #countEvent(text: string): number {
    const marks = this.#marks;
    for (let tried = 0; tried < marks.length; tried++) {
      const index = (this.#last + tried) % marks.length;
      const bytes = stringBytes(text, marks[index]!, this.#most);
      if (bytes === 0) continue;
      this.#last = index;
      return bytes;
    }
    return 0;
  }
}

/** Precedes the data of an event, except at the beginning of the text. Strings in JSON contain no line breaks. */
const DATA = "\ndata:";

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** @returns the length of the strings behind a mark */
function stringBytes(text: string, mark: string, most: MostTokens | undefined): number {
  let bytes = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
    at += mark.length;
    if (text.charCodeAt(at) === SPACE) at++;
    if (text.charCodeAt(at) !== QUOTE) continue;
    let end = text.indexOf('"', at + 1);
    while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf('"', end + 1);
    if (end < 0) end = text.length;
    most?.add(decoded(text.slice(at + 1, end)));
    bytes += end - at - 1;
    at = end;
  }
  return bytes;
}

/** Printable ASCII without a backslash is the text itself. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The text of a string in JSON that was read as Latin-1. */
function decoded(written: string): string {
  if (PLAIN.test(written)) return written;
  const text = Buffer.from(written, "latin1").toString();
  const value = parseJson(`"${text}"`);
  return typeof value === "string" ? value : text;
}
