/** What requests cost that may wait: in a batch of their provider, and in one that weir runs itself. */
import type { PriceRule } from "../charge.ts";
import { withRef } from "./book.ts";
import { scaledRule } from "./settings.ts";

/** The share of the usual prices that providers with batches take, where the config says nothing else. */
export const BATCH_FACTOR = 0.5;

/** Places of a discount that count: nine. */
const PARTS = 1e9;

/** Rules that were made from others, by the factor: a rule is made once, and its reference needs a digest. */
const made = new WeakMap<PriceRule, Map<number, PriceRule>>();

/**
 * The prices of a model in a batch of its provider: those of `prices.NAME.batch` of the config, else half of the usual ones. Long
 * requests, regions, speeds and fees are those of the rule, times the factor. The cost is that of `priceUsage` with this rule.
 */
export function batchRule(rule: PriceRule): PriceRule {
  return timesRule(rule, rule.batch ?? BATCH_FACTOR);
}

/** The prices of a line that weir runs itself. @param discount what weir takes off, from 0 to 1 */
export function discountedRule(rule: PriceRule, discount: number): PriceRule {
  // Of decimals, a difference of floats is a little beside the decimal.
  return timesRule(rule, Math.round((1 - discount) * PARTS) / PARTS);
}

/** A rule with a reference of its own, because the books keep each price that was used. */
function timesRule(rule: PriceRule, factor: number): PriceRule {
  if (factor === 1) return rule;
  let byFactor = made.get(rule);
  if (!byFactor) made.set(rule, (byFactor = new Map<number, PriceRule>()));
  let found = byFactor.get(factor);
  if (!found) {
    const { ref: _ref, batch: _batch, ...content } = rule;
    byFactor.set(factor, (found = withRef(scaledRule(content, factor))));
  }
  return found;
}
