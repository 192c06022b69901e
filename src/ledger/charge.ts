/** The cost of an attempt, and how weir knows it. */
import type { Units } from "../core/events.ts";
import type { Nano } from "./money.ts";

/**
 * `metered`: counted by the provider, times the price. `reported`: the provider's own figure. `estimated`: the counts are
 * partial. `assumed`: no counts exist, and the provider may charge. `unpriced`: counted, without a price. `free`: nothing was
 * sent, or the price is zero.
 */
export const CHARGE_STATES = ["metered", "reported", "estimated", "assumed", "unpriced", "free"] as const;
export type ChargeState = (typeof CHARGE_STATES)[number];

export interface Charge {
  state: ChargeState;
  /** 0 for `unpriced` and `free`. */
  cost: Nano;
  /** Reference of the price rule ({@link PriceRule.ref}); absent for `reported`, `unpriced`, and `free` without a price. */
  price?: string;
  /** Usage that the rule does not price, so that the state is `estimated` although the counts are final. */
  doubt?: PriceDoubt;
}

/**
 * `cache-read`: read tokens cost as much as input. `tier`, `speed`, `search`: the tier or the speed that served the request, or the
 * searches, cost what they cost at most. `model`: another model that worked for the answer costs as much as the one that was asked.
 * `unit`: nothing is booked for a unit, because its price is not known.
 */
export const PRICE_DOUBTS = ["cache-read", "tier", "speed", "search", "model", "unit"] as const;
export type PriceDoubt = (typeof PRICE_DOUBTS)[number];

/** Integer prices by bucket in pico-dollars a token: $2.50 a million tokens is 2,500,000. Absent: see {@link PriceRule}. */
export interface BucketPrices {
  input?: number;
  cacheRead?: number;
  cacheReadAudio?: number;
  cacheWrite?: number;
  cacheWrite1h?: number;
  output?: number;
  reasoning?: number;
  audioIn?: number;
  audioOut?: number;
  imageIn?: number;
  imageOut?: number;
}

/** Prices of requests of every length. */
export interface PriceSet extends BucketPrices {
  /** Prices of the whole request when its input, with what a cache holds, exceeds `above` tokens; ascending. */
  tiers?: readonly (BucketPrices & { above: number })[];
}

/**
 * How a model of a provider is priced. Plain JSON. An absent bucket costs as much as the one it is part of: reasoning, audio and
 * images as output, input or cache reads, cache writes as input, an hour's writes as other writes (Claude: twice the input). Cache reads
 * without a price cost as much as input, and the charge says so ({@link Charge.doubt}).
 */
export interface PriceRule extends PriceSet {
  /** Identifies the rule's content: the same rule has the same reference in every process. */
  ref: string;
  /** Name of the provider, and the provider's name of the model. */
  provider: string;
  model: string;
  /** Prices by the service tier that served the request: `priority`, `flex`. */
  served?: Readonly<Record<string, PriceSet>>;
  /** Factors for all tokens by region, and by speed, that the provider names. */
  regions?: Readonly<Record<string, number>>;
  speeds?: Readonly<Record<string, number>>;
  /** Nano-dollars for each search, for a request with at least one search, and for each request. */
  per?: { search?: Nano; searched?: Nano; request?: Nano };
  /** Pico-dollars a unit, by its name: $0.002 a call is 2,000,000,000. A rule with units and without `input` prices no tokens. */
  units?: Units;
  /** What a batch of the provider costs, as a factor of these prices; absent: see `batchRule` of prices/batch.ts. */
  batch?: number;
  /** Most output tokens and the context window of the model, if known. Tokens. */
  maxOutput?: number;
  window?: number;
  /** The first day on which the rule holds: `2026-11-01`. */
  from?: string;
  /** `config`, or the snapshot and its date: `litellm 2026-11-20`. */
  source: string;
}
