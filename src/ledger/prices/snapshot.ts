/** The price book: the prices and limits of each model. */
import type { PriceRule } from "../charge.ts";
import { LineFile } from "./line-file.ts";

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

type Priced = Pick<PriceRule, "model" | "per">;

/**
 * Fees for searches that the price book has for sister models only: one provider charges one price for all models of a family.
 * Returns those of the models whose names have the most in common with a model, from their beginnings on.
 * @param lines the models of the same provider that have such fees
 * @returns undefined if there are none, or if they differ
 */
function searchFeesOf(model: string, lines: readonly Priced[]): Priced["per"] {
  const name = wordsOf(model);
  let nearest = 1;
  let found: Priced[] = [];
  for (const line of lines) {
    const common = commonOf(name, wordsOf(line.model));
    if (common < nearest) continue;
    if (common > nearest) found = [];
    nearest = common;
    found.push(line);
  }
  const [first, ...others] = found.map(({ per: { search, searched } = {} }) => ({
    ...(search !== undefined && { search }),
    ...(searched !== undefined && { searched }),
  }));
  const isSame = others.every(
    ({ search, searched }) => search === first?.search && searched === first?.searched,
  );
  return isSame ? first : undefined;
}

function hasSearchFee({ per }: Pick<PriceRule, "per">): boolean {
  return per?.search !== undefined || per?.searched !== undefined;
}

/** `gpt-5.4-mini`: gpt, 5, 4, mini. */
function wordsOf(model: string): string[] {
  return model.split(/[-._:/@]/);
}

function commonOf(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((word, at) => word !== other[at]);
  return end < 0 ? one.length : end;
}
