/** A text of an answer about which a guard asks, whole or while it grows. Positions are UTF-16 units of the text. */
import { parseJson } from "../../../core/json.ts";
import type { Text } from "../../../core/text-places.ts";
import { isInString } from "../pass/view.ts";
import { type Edit, edited, escaped } from "../replace/edits.ts";

export class Said {
  readonly of: Text;
  text: string;
  /** What is in front of it was asked about. */
  asked = 0;
  /** What is in front of it may go on. */
  free = 0;
  /** No more text follows. */
  isClosed = false;
  readonly #edits: Edit[] = [];
  readonly #known = new Set<string>();

  constructor(of: Text, text = "") {
    this.of = of;
    this.text = text;
  }

  /** A question would tell something new. */
  get isNews(): boolean {
    return this.asked < this.text.length || (this.isClosed && this.free < this.text.length);
  }

  /** @returns whether a finding is new: a piece begins with what was asked about before */
  learns(start: number, end: number, kind: string): boolean {
    const id = `${start} ${end} ${kind}`;
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    return true;
  }

  /** What has gone on stays, and what was found first. @returns false: nothing of the value is left to be replaced */
  replace({ start, end, text }: Edit): boolean {
    let from = Math.max(start, this.free);
    let to = end;
    for (const one of this.#edits)
      if (one.start <= from) from = Math.max(from, one.end);
      else if (one.start < to) to = one.start;
    if (from >= to) return false;
    this.#edits.push({ start: from, end: to, text });
    this.#edits.sort((one, other) => one.start - other.start);
    return true;
  }

  /** Lets the text go on up to a position, which cuts no value, and no number of JSON. */
  release(to: number): void {
    const cut = this.#edits.find(({ start, end }) => start < to && end > to);
    this.free = Math.max(this.free, this.#inFrontOfNumber(cut ? cut.start : to));
  }

  /** What changes between two positions up to which the text was released, as the text is written. */
  edits(from: number, to: number): Edit[] {
    const edits = this.#edits.filter(({ start, end }) => start >= from && end <= to);
    return this.of.isJson ? inJson(this.text, edits) : edits;
  }

  #inFrontOfNumber(at: number): number {
    const isWhole = this.isClosed && at === this.text.length;
    return !this.of.isJson || isWhole || isInString(this.text, 0, at, false) ? at : wordStart(this.text, at);
  }
}

/** Edits of JSON: strings get escapes, and a number becomes a string, also where a part of it is replaced. */
function inJson(json: string, edits: readonly Edit[]): Edit[] {
  const written: Edit[] = [];
  let isWithin = false;
  let from = 0;
  for (const edit of edits) {
    isWithin = isInString(json, from, edit.start, isWithin);
    from = edit.start;
    if (isWithin) written.push({ ...edit, text: escaped(edit.text) });
    else if (from >= (written.at(-1)?.end ?? 0)) written.push(ofValue(json, edit, edits));
  }
  return written;
}

/** The edit of a value that is no string, with all edits of its parts. */
function ofValue(json: string, edit: Edit, edits: readonly Edit[]): Edit {
  const start = wordStart(json, edit.start);
  const end = wordEnd(json, edit.end);
  const parts = edits
    .filter((one) => one.start >= start && one.end <= end)
    .map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
  const value = edited(json.slice(start, end), parts);
  // A service may have written JSON.
  return { start, end, text: parseJson(value) === undefined ? JSON.stringify(value) : value };
}

/** What numbers and words of JSON are written with. */
const WORD = /[-+.\w]/;

function wordStart(json: string, at: number): number {
  let start = at;
  while (start > 0 && WORD.test(json[start - 1]!)) start--;
  return start;
}

function wordEnd(json: string, at: number): number {
  let end = at;
  while (end < json.length && WORD.test(json[end]!)) end++;
  return end;
}
