/** Prices that the config sets, by `provider/model`, and how they become rules. */
import type { Units } from "../../core/events.ts";
import type { BucketPrices, PriceRule, PriceSet } from "../charge.ts";
import { DOLLAR } from "../money.ts";
import { CONFIG_SOURCE } from "./price.ts";

/** Dollars a million tokens; `search`, `request` and `units`: dollars each. `discount`: a fraction of the shipped prices. */
export interface PriceSetting extends BucketPrices {
  search?: number;
  request?: number;
  units?: Units;
  discount?: number;
  /** Factor of these prices in a batch of the provider. */
  batch?: number;
}

/** By `provider/model` or a pattern over it; `0`: the model costs nothing. */
export type PriceSettings = Readonly<Record<string, 0 | PriceSetting>>;

/** Pico-dollars in a dollar. */
const PICO_DOLLAR = 1_000_000_000_000;

/** Pico-dollars a unit from dollars a unit. */
export const picoOf = (units: Units): Units =>
  mapUnits(units, (dollars) => Math.round(dollars * PICO_DOLLAR));

/** Dollars a unit from pico-dollars a unit. */
export const dollarsOf = (units: Units): Units => mapUnits(units, (pico) => pico / PICO_DOLLAR);

/** Pico-dollars a token in one dollar a million tokens. */
const PICO = 1_000_000;

/** The buckets that a setting and a rule can price. */
export const BUCKETS = [
  "input",
  "cacheRead",
  "cacheReadAudio",
  "cacheWrite",
  "cacheWrite1h",
  "output",
  "reasoning",
  "audioIn",
  "audioOut",
  "imageIn",
  "imageOut",
] as const satisfies readonly (keyof BucketPrices)[];

/**
 * The rule of a model whose price the config sets.
 * @param shipped the rule of the price book: facts beside prices, and what a discount is taken from
 * @returns undefined for a discount on a price that is not known
 */
export function configuredRule(
  setting: 0 | PriceSetting,
  target: { provider: string; model: string },
  shipped: Omit<PriceRule, "ref"> | undefined,
): Omit<PriceRule, "ref"> | undefined {
  if (setting === 0) return { ...target, input: 0, output: 0, ...boundsOf(shipped), source: CONFIG_SOURCE };
  const { discount, search, request, units, batch } = setting;
  const inBatch = batch === undefined ? {} : { batch };
  if (discount !== undefined)
    return shipped && { ...scaledRule(shipped, 1 - discount), ...inBatch, source: CONFIG_SOURCE };
  // A price of each search replaces a fee for all searches of a request.
  const { searched, ...fees } = shipped?.per ?? {};
  const kept = search === undefined && searched !== undefined ? { ...fees, searched } : fees;
  const per = { ...kept, ...nanoOf({ search, request }) };
  return {
    ...target,
    ...mapBuckets(setting, (dollars) => Math.round(dollars * PICO)),
    ...(Object.keys(per).length > 0 && { per }),
    ...(units && { units: picoOf(units) }),
    ...boundsOf(shipped),
    ...inBatch,
    source: CONFIG_SOURCE,
  };
}

function boundsOf(shipped: Omit<PriceRule, "ref"> | undefined): Pick<PriceRule, "maxOutput" | "window"> {
  const { maxOutput, window } = shipped ?? {};
  return { ...(maxOutput !== undefined && { maxOutput }), ...(window !== undefined && { window }) };
}

/** A rule with all its prices times a factor: each is a whole number again, so that sums of the rule are exact. */
export function scaledRule(rule: Omit<PriceRule, "ref">, factor: number): Omit<PriceRule, "ref"> {
  const scale = (price: number) => Math.round(price * factor);
  const served = Object.entries(rule.served ?? {}).map(([name, set]) => [name, scaled(set, scale)] as const);
  const per = Object.entries(rule.per ?? {}).map(([name, nano]) => [name, scale(nano)] as const);
  return {
    ...rule,
    ...scaled(rule, scale),
    ...(rule.served && { served: Object.fromEntries(served) }),
    ...(rule.per && { per: Object.fromEntries(per) }),
    ...(rule.units && { units: mapUnits(rule.units, scale) }),
  };
}

function scaled(set: PriceSet, scale: (price: number) => number): PriceSet {
  const tiers = set.tiers?.map((tier) => ({ above: tier.above, ...mapBuckets(tier, scale) }));
  return { ...mapBuckets(set, scale), ...(tiers && { tiers }) };
}

function mapBuckets(prices: BucketPrices, change: (price: number) => number): BucketPrices {
  const changed: BucketPrices = {};
  for (const bucket of BUCKETS) {
    const price = prices[bucket];
    if (price !== undefined) changed[bucket] = change(price);
  }
  return changed;
}

function mapUnits(units: Units, change: (price: number) => number): Units {
  return Object.fromEntries(Object.entries(units).map(([unit, price]) => [unit, change(price)]));
}

function nanoOf(dollars: { search?: number; request?: number }): { search?: number; request?: number } {
  const { search, request } = dollars;
  return {
    ...(search !== undefined && { search: Math.round(search * DOLLAR) }),
    ...(request !== undefined && { request: Math.round(request * DOLLAR) }),
  };
}
