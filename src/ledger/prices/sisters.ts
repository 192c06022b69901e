/** Fees for searches that the price book has for sister models only: one provider charges one price for all models of a family. */
import type { PriceRule } from "../charge.ts";

type Priced = Pick<PriceRule, "model" | "per">;

/**
 * The fees of the models whose names have the most in common with a model, from their beginnings on.
 * @param lines the models of the same provider that have such fees
 * @returns undefined if there are none, or if they differ
 */
export function searchFeesOf(model: string, lines: readonly Priced[]): Priced["per"] {
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

export function hasSearchFee({ per }: Pick<PriceRule, "per">): boolean {
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
