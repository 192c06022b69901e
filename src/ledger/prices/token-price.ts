/** Costs of targets compared with each other, for routing by cost. */
import type { Target } from "../../core/provider.ts";
import { PriceBook } from "./book.ts";
import { regionOf } from "./region.ts";
import type { PriceSettings } from "./settings.ts";

/**
 * The usual price of one token of input and one of output at a target, with the factor of its region.
 * @param settings the section `prices` of the config @returns undefined if one of both prices is not known
 */
export function tokenPrices(settings: PriceSettings): (target: Target) => number | undefined {
  const book = new PriceBook(settings);
  return ({ provider, deployment, model }) => {
    const { input, output, regions } = book.lookup(provider.name, model) ?? {};
    if (input === undefined || output === undefined) return undefined;
    return (input + output) * (regions?.[regionOf(deployment) ?? ""] ?? 1);
  };
}
