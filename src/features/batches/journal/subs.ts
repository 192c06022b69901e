/** What journals have of the batches that a provider holds for lines of a batch. */
import type { SubBegins, SubRecord } from "./record.ts";

export interface KnownSub extends SubBegins {
  /** The provider's id; absent: the answer to its creation is not known. */
  readonly id?: string;
}

export class SubTable {
  readonly #subs = new Map<number, KnownSub>();
  #last = 0;

  note(record: SubRecord): void {
    const { k } = record;
    this.#last = Math.max(this.#last, k);
    const known = this.#subs.get(k);
    if (record.t === "sub") this.#subs.set(k, record);
    else if (record.t === "sub-gone") this.#subs.delete(k);
    else if (known) this.#subs.set(k, { ...known, id: record.id });
  }

  /** Those that the provider may hold. */
  all(): readonly KnownSub[] {
    return [...this.#subs.values()];
  }

  /** The number of the next one. */
  next(): number {
    return ++this.#last;
  }
}

/** @param numbers ascending */
export function rangesOf(numbers: readonly number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}
