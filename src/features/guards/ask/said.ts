/** A text of an answer about which a guard asks, whole or while it grows. Positions are UTF-16 units of the text. */
import type { Text } from "../../../core/text-places.ts";
import type { Edit } from "../replace/edits.ts";

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

  /** Lets the text go on up to a position, which cuts no value. */
  release(to: number): void {
    const cut = this.#edits.find(({ start, end }) => start < to && end > to);
    this.free = Math.max(this.free, cut ? cut.start : to);
  }

  /** What changes between two positions. */
  edits(from: number, to: number): Edit[] {
    return this.#edits.filter(({ start, end }) => start >= from && end <= to);
  }
}
