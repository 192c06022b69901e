/** The price book: the prices and limits of each model. */
import type { PriceRule } from "../charge.ts";
import { LineFile } from "./line-file.ts";
import { hasSearchFee, searchFeesOf } from "./sisters.ts";

/**
 * One line: a rule without what all lines have in common, or another name of a model. `source`: where the price is from, if not
 * from the source of the file.
 */
export type SnapshotLine = Omit<PriceRule, "ref" | "source"> & { as?: string; source?: string };

export class Snapshot extends LineFile<SnapshotLine> {
  /** The models of each provider that have a price of a search. */
  readonly #searching = new Map<string, readonly SnapshotLine[]>();

  /** `litellm 2026-11-20`, as {@link PriceRule.source} has it. */
  get source(): string {
    return `${this.head.source} ${this.head.date}`;
  }

  /** The rule of a model. The map lacks the price of a search for some models of a family: they have that of the others. */
  find(provider: string, model: string): Omit<PriceRule, "ref"> | undefined {
    const line = this.lookup(provider, model);
    if (!line) return undefined;
    const fees = hasSearchFee(line) ? undefined : searchFeesOf(line.model, this.#searchingOf(provider));
    return { ...line, ...(fees && { per: { ...line.per, ...fees } }), source: line.source ?? this.source };
  }

  #searchingOf(provider: string): readonly SnapshotLine[] {
    let lines = this.#searching.get(provider);
    if (!lines) this.#searching.set(provider, (lines = this.linesOf(provider).filter(hasSearchFee)));
    return lines;
  }
}
