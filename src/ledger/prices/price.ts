/** Arithmetic of prices: token counts times a rule. Integers only, rounded once. */
import type { Units, Usage } from "../../core/events.ts";
import type { BucketPrices, PriceDoubt, PriceRule, PriceSet } from "../charge.ts";
import type { Nano } from "../money.ts";
import { type Factor, feesOf, speedFactor, tierFactor } from "./unknown.ts";

export { CONFIG_SOURCE } from "./unknown.ts";

export interface Priced {
  cost: Nano;
  doubt?: PriceDoubt;
}

/** The price of what an attempt used, rounded half up to nano-dollars. */
export function priceUsage(usage: Usage, rule: PriceRule): Priced {
  const sum = new PicoSum(factorFor(usage, rule));
  const fees = feesOf(rule, usage.searches ?? 0);
  const tokens = addBuckets(usage, rule, sum);
  const units = addUnits(usage, rule, sum);
  const doubt = units ?? tokens ?? speedFactor(rule, usage.speed).doubt ?? fees.doubt;
  const cost = sum.nano + fees.cost;
  return doubt === undefined ? { cost } : { cost, doubt };
}

/** Takes the tokens of each bucket, also of empty ones, with their price. Pico-dollars a token, without factors. */
export interface BucketSum {
  add(tokens: number, price: number, bucket: keyof BucketPrices): void;
}

/** The factor for all prices of a rule: of region and speed, and of a tier that the rule has no prices for. */
export function factorFor({ region, speed, tier }: Usage, rule: PriceRule): number {
  return factorOf(rule.regions, region) * speedFactor(rule, speed).factor * servedBy(rule, tier).factor;
}

/** Takes the units of each name with their price. Pico-dollars a unit: the factors are those of tokens. */
export interface UnitSum {
  addUnits(count: number, price: number, unit: string): void;
}

/** Whether a host that charges by units or by tokens does so by tokens: the rule has prices of these alone. */
export function isByTokens(rule: PriceRule | undefined, units: Units): boolean {
  return rule?.input !== undefined && !pricesUnits(rule, units);
}

/** Adds what was used besides tokens. @returns what the rule does not contain */
export function addUnits(usage: Usage, rule: PriceRule, sum: UnitSum): PriceDoubt | undefined {
  const { units = {} } = usage;
  for (const unit in units) {
    const price = unitPrice(rule, unit);
    if (price !== undefined) sum.addUnits(units[unit]!, price, unit);
  }
  return hasUnpriced(usage, rule) ? "unit" : undefined;
}

function hasUnpriced({ input, cacheRead, cacheWrite, output, units = {} }: Usage, rule: PriceRule): boolean {
  const isUnits = rule.units !== undefined && rule.input === undefined;
  const names = Object.keys(units);
  if (isUnits && input + cacheRead + cacheWrite + output > 0)
    return (
      names.length === 0 || !names.every((unit) => isInstead(unit) && unitPrice(rule, unit) !== undefined)
    );
  // Nothing was counted that the rule has a price for.
  if (
    !isUnits &&
    output === 0 &&
    names.some((unit) => isInstead(unit) && unitPrice(rule, unit) === undefined)
  )
    return !isFree(rule);
  return !pricesUnits(rule, units);
}

/** Whether the rule has a price of each unit, or says that everything costs nothing. */
export function pricesUnits(rule: PriceRule, units: Units): boolean {
  for (const unit in units)
    if (
      units[unit]! > 0 &&
      unitPrice(rule, unit) === undefined &&
      !(isInstead(unit) && rule.input !== undefined)
    )
      return isFree(rule);
  return true;
}

/** Pico-dollars a unit. `image-1024x1024-hd` without a price has that of `image-1024x1024`, else that of `image`. */
function unitPrice({ units }: PriceRule, unit: string): number | undefined {
  for (let name = unit; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf("-")))) {
    const price = units?.[name];
    if (price !== undefined) return price;
  }
  return undefined;
}

/** Images are charged by tokens or by their number, and what is counted of both says which: the price of the model decides. */
function isInstead(unit: string): boolean {
  return unit === "image" || unit.startsWith("image-");
}

/** Divides what was used among the buckets of a rule. @returns what the rule does not contain */
export function addBuckets(usage: Usage, rule: PriceRule, sum: BucketSum): PriceDoubt | undefined {
  const { input, cacheRead, cacheWrite, output } = usage;
  const { set, doubt } = servedBy(rule, usage.tier);
  const prices = tierOf(set, input + cacheRead + cacheWrite);
  const each = priceList(prices, rule);
  // The parts of a bucket come first; the rest has the price of the bucket.
  const audioIn = Math.min(usage.audioIn ?? 0, input);
  const imageIn = Math.min(usage.imageIn ?? 0, input - audioIn);
  const cacheReadAudio = Math.min(usage.cacheReadAudio ?? 0, cacheRead);
  const cacheWrite1h = Math.min(usage.cacheWrite1h ?? 0, cacheWrite);
  const reasoning = Math.min(usage.reasoning, output);
  const audioOut = Math.min(usage.audioOut ?? 0, output - reasoning);
  const imageOut = Math.min(usage.imageOut ?? 0, output - reasoning - audioOut);
  sum.add(input - audioIn - imageIn, each.input, "input");
  sum.add(audioIn, each.audioIn, "audioIn");
  sum.add(imageIn, each.imageIn, "imageIn");
  sum.add(cacheRead - cacheReadAudio, each.cacheRead, "cacheRead");
  sum.add(cacheReadAudio, each.cacheReadAudio, "cacheReadAudio");
  sum.add(cacheWrite - cacheWrite1h, each.cacheWrite, "cacheWrite");
  sum.add(cacheWrite1h, each.cacheWrite1h, "cacheWrite1h");
  sum.add(output - reasoning - audioOut - imageOut, each.output, "output");
  sum.add(reasoning, each.reasoning, "reasoning");
  sum.add(audioOut, each.audioOut, "audioOut");
  sum.add(imageOut, each.imageOut, "imageOut");
  if (cacheRead > 0 && prices.cacheRead === undefined) return "cache-read";
  return doubt;
}

/** The most that a request may use. Tokens; `tier` and `speed`: those that the client asks for. */
export interface Bounds {
  input: number;
  output: number;
  searches?: number;
  units?: Units | undefined;
  tier?: string | undefined;
  speed?: string | undefined;
}

/**
 * The most that a request within these bounds can cost: all its input is written to a cache if that is dearest. A provider may
 * serve another tier than the client asks for.
 */
export function costAtMost(
  rule: PriceRule,
  { input, output, searches = 0, units = {}, tier, speed }: Bounds,
): Nano {
  const usual = priceList(tierOf(rule, input), rule);
  const { set, factor } = servedBy(rule, tier);
  const asked = tier === undefined ? usual : priceList(tierOf(set, input), rule);
  const sum = new PicoSum(speedFactor(rule, speed).factor);
  sum.add(input, Math.max(usual.dearestIn, Math.round(asked.dearestIn * factor)));
  sum.add(output, Math.max(usual.dearestOut, Math.round(asked.dearestOut * factor)));
  for (const unit in units) sum.addUnits(units[unit]!, unitPrice(rule, unit) ?? 0);
  return sum.nano + feesOf(rule, searches).cost;
}

/** The rule as it is for requests with this much input, without tiers: for sums of several requests. */
export function withoutTiers(rule: PriceRule, input: number): PriceRule {
  if (!rule.tiers) return rule;
  const { above: _above, ...prices } = { above: 0, ...tierOf(rule, input) };
  return { ...rule, ...prices, tiers: undefined };
}

/** Whether the rule says that everything costs nothing. */
export function isFree(rule: PriceRule): boolean {
  return rule.input === 0 && rule.output === 0 && !rule.served && !rule.tiers && !rule.per && !rule.units;
}

/** Names that providers give to the usual service tier. */
const USUAL_TIERS = new Set(["default", "standard", "auto", "on_demand"]);

/** Names of one tier at several providers. */
const TIER_NAMES: Readonly<Record<string, string>> = {
  on_demand_priority: "priority",
  on_demand_flex: "flex",
};

function servedBy(rule: PriceRule, tier: string | undefined): Factor & { set: PriceSet } {
  if (tier === undefined || USUAL_TIERS.has(tier)) return { set: rule, factor: 1 };
  const lower = tier.toLowerCase();
  if (USUAL_TIERS.has(lower)) return { set: rule, factor: 1 };
  const name = TIER_NAMES[lower] ?? lower;
  const set = rule.served?.[name];
  return set ? { set, factor: 1 } : { set: rule, ...tierFactor(rule, name) };
}

function tierOf(set: PriceSet, input: number): BucketPrices {
  let found: BucketPrices = set;
  for (const tier of set.tiers ?? []) if (input > tier.above) found = tier;
  return found;
}

/** `*` is every region that has no factor of its own. */
function factorOf(factors: Readonly<Record<string, number>> | undefined, name: string | undefined): number {
  if (factors === undefined || name === undefined) return 1;
  return factors[name] ?? factors["*"] ?? 1;
}

/** Anthropic charges twice the input for what its cache keeps for an hour, under every name of its models. */
const CLAUDE = "claude";

/** The price of each bucket, with what stands for an absent one, and the dearest prices in the dearest region. */
interface PriceList extends Required<BucketPrices> {
  dearestIn: number;
  dearestOut: number;
}

/** By the prices that they are made from, which are parts of rules and do not change. */
const lists = new WeakMap<BucketPrices, PriceList>();

function priceList(prices: BucketPrices, rule: PriceRule): PriceList {
  let list = lists.get(prices);
  if (!list) lists.set(prices, (list = makeList(prices, rule)));
  return list;
}

function makeList(prices: BucketPrices, { model, regions = {} }: PriceRule): PriceList {
  const factor = Math.max(1, ...Object.values(regions));
  const { input = 0, output = 0, cacheRead = input, cacheWrite = input } = prices;
  const { audioIn = input, imageIn = input, cacheReadAudio = cacheRead } = prices;
  const { reasoning = output, audioOut = output, imageOut = output } = prices;
  const cacheWrite1h = prices.cacheWrite1h ?? (model.includes(CLAUDE) ? 2 * input : cacheWrite);
  return {
    ...{ input, cacheRead, cacheReadAudio, cacheWrite, cacheWrite1h, audioIn, imageIn },
    ...{ output, reasoning, audioOut, imageOut },
    dearestIn: Math.round(
      Math.max(input, cacheRead, cacheReadAudio, cacheWrite, cacheWrite1h, audioIn, imageIn) * factor,
    ),
    dearestOut: Math.round(Math.max(output, reasoning, audioOut, imageOut) * factor),
  };
}

/**
 * Sum of tokens times pico-dollars. A product can exceed 2^53, so whole nano-dollars and the rest are summed apart: each part
 * is exact up to nine million dollars.
 */
class PicoSum {
  readonly #factor: number;
  #nano = 0;
  #pico = 0;

  /** @param factor for every price; a price stays a whole number of pico-dollars */
  constructor(factor: number) {
    this.#factor = factor;
  }

  add(tokens: number, unitPrice: number): void {
    if (tokens === 0) return;
    this.addUnits(tokens, this.#factor === 1 ? unitPrice : Math.round(unitPrice * this.#factor));
  }

  /** @param price without factors */
  addUnits(count: number, price: number): void {
    const rest = price % 1000;
    this.#nano += count * ((price - rest) / 1000);
    this.#pico += count * rest;
  }

  /** Rounded half up. */
  get nano(): Nano {
    return this.#nano + Math.floor((this.#pico + 500) / 1000);
  }
}
