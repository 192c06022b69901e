/** Charges in doubt, for usage that a price rule does not contain: the most that it can cost, so that unknown is never zero. */
import type { PriceDoubt, PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";

/** {@link PriceRule.source} of a price that the config sets. */
export const CONFIG_SOURCE = "config";

/** A search without a price. No search in the price book costs more. Nano-dollars. */
export const SEARCH_AT_MOST: Nano = 50_000_000;

/** A speed without a price, as a factor of the usual one: fast modes of Claude have cost six times as much. */
const SPEED_AT_MOST = 6;
/** Names that providers give to the usual speed. */
const USUAL_SPEEDS = new Set(["standard", "default", "normal"]);

/** Tiers that cost no more than the usual one: slower, or paid for in advance. */
const NO_DEARER = new Set(["flex", "batch", "scale", "reserved", "provisioned", "bulk", "economy"]);
/** A tier without a price, as a factor of the usual one: the most of this name in the price book. */
const TIERS_AT_MOST: Readonly<Record<string, number>> = { ultrafast: 6, fast: 6 };
const TIER_AT_MOST = 2.5;

/** The factor for a speed. A price of the config holds for each. */
export function speedFactor({ speeds, source }: PriceRule, speed: string | undefined): Factor {
  if (speed === undefined || USUAL_SPEEDS.has(speed.toLowerCase())) return USUAL;
  const known = speeds?.[speed] ?? speeds?.["*"];
  if (known !== undefined) return { factor: known };
  return source === CONFIG_SOURCE ? USUAL : { factor: SPEED_AT_MOST, doubt: "speed" };
}

/** The factor for a tier of a lower-case name that the rule has no prices for. */
export function tierFactor({ source }: PriceRule, tier: string): Factor {
  if (source === CONFIG_SOURCE) return USUAL;
  return { factor: NO_DEARER.has(tier) ? 1 : (TIERS_AT_MOST[tier] ?? TIER_AT_MOST), doubt: "tier" };
}

export interface Factor {
  factor: number;
  /** The rule does not contain it. */
  doubt?: PriceDoubt;
}

const USUAL: Factor = { factor: 1 };

/** Fees besides tokens. */
export function feesOf({ per }: PriceRule, searches: number): { cost: Nano; doubt?: PriceDoubt } {
  const { search, searched, request = 0 } = per ?? {};
  if (searches === 0) return { cost: request };
  if (search === undefined && searched === undefined)
    return { cost: request + searches * SEARCH_AT_MOST, doubt: "search" };
  return { cost: request + searches * (search ?? 0) + (searched ?? 0) };
}

/** The price of a search for which the setting `serverToolCost` is written. Nano-dollars. */
const USUAL_SEARCH: Nano = 10_000_000;

/**
 * Holds for tools that the provider runs itself.
 * @param expected what the operator expects of them where a search costs a cent; dearer searches need more
 */
export function serverToolsAtMost({ per }: PriceRule, expected: Nano): Nano {
  if (per?.search === undefined && per?.searched !== undefined) return Math.max(expected, per.searched);
  return Math.round(expected * Math.max(1, (per?.search ?? SEARCH_AT_MOST) / USUAL_SEARCH));
}
