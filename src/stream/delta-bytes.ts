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

  /** Counts a string that was found already. */
  add(written: string): void {
    this.#most?.add(decoded(written));
  }

  /** The string of an event that is counted, if it has one of them. @param text one event */
  stringOf(text: string): { from: number; to: number } | undefined {
    const mark = this.#marks[this.#last]!;
    const at = text.indexOf(mark);
    if (at < 0 || text.includes(mark, at + mark.length)) return undefined;
    const from = text.indexOf('"', at + mark.length) + 1;
    const to = from + stringBytes(text, mark, undefined);
    return to > from ? { from, to } : undefined;
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

/** A longer event is not remembered: thousands of streams remember one each. Characters. */
const MAX_REMEMBERED = 4096;

/**
 * Events that are equal but for one string. Of an answer most are, so what the others hold besides their text was searched when the
 * first of them came.
 */
export class EqualEvents {
  readonly #counter: DeltaCounter;
  /** An event without a mark, up to the text of its string, and from the quote behind it; empty: none is known. */
  #before = "";
  #behind = "";
  /** Text in the events that the last `pass` has counted. Bytes. */
  bytes = 0;

  constructor(counter: DeltaCounter) {
    this.#counter = counter;
  }

  /** Counts the events at the beginning of a text that are equal to the known one. @returns where the others begin */
  pass(text: string): number {
    const before = this.#before;
    const behind = this.#behind;
    this.bytes = 0;
    let at = 0;
    while (before !== "" && text.startsWith(before, at)) {
      const from = at + before.length;
      const to = text.indexOf('"', from);
      // A quote that belongs to the text has a backslash before it.
      if (to <= from || text.charCodeAt(to - 1) === BACKSLASH || !text.startsWith(behind, to)) break;
      this.#counter.add(text.slice(from, to));
      this.bytes += to - from;
      at = to + behind.length;
    }
    return at;
  }

  /** Remembers the last event of a text, if one of its strings is counted. @param text complete events without a mark */
  learn(text: string): void {
    const start = text.lastIndexOf(BLANK_LINE, text.length - BLANK_LINE.length - 1);
    const length = start < 0 ? text.length : text.length - start - BLANK_LINE.length;
    if (length > MAX_REMEMBERED) return;
    const event = length === text.length ? text : copyOf(text.slice(-length));
    if (!event.endsWith(BLANK_LINE) || event.includes("\r")) return;
    const string = this.#counter.stringOf(event);
    if (!string) return;
    this.#before = event.slice(0, string.from);
    this.#behind = event.slice(string.to);
  }
}

/** A part of a text keeps the whole text in memory. */
function copyOf(latin: string): string {
  return Buffer.from(latin, "latin1").toString("latin1");
}

/** Ends an event. */
const BLANK_LINE = "\n\n";

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
