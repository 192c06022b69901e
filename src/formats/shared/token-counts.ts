/** Reads token counts in the fields of several vendors. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** The value if it is a number of tokens. */
export function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : undefined;
}

/** The value if it is a number of tokens above zero. */
export function positive(value: Json | undefined): number | undefined {
  return count(value) || undefined;
}

/**
 * The cost that the provider reports: dollars at OpenRouter and Perplexity, ticks of 10^-10 dollars at xAI. With a key of the
 * customer's own at the vendor, OpenRouter's `cost` is its fee alone, and the vendor charges the rest.
 */
export function reportedCost(usage: JsonObject): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = usage;
  if (typeof ticks === "number" && ticks >= 0) return Math.round(ticks / 10);
  const dollars = isObject(cost) ? cost.total_cost : cost;
  if (typeof dollars !== "number" || dollars < 0) return undefined;
  return Math.round((dollars + costAtVendor(usage)) * 1e9);
}

function costAtVendor({ is_byok: hasOwnKey, cost_details: details }: JsonObject): number {
  if (hasOwnKey !== true || !isObject(details)) return 0;
  const { upstream_inference_cost: dollars } = details;
  return typeof dollars === "number" && dollars > 0 ? dollars : 0;
}

/** Uncached input, never negative. If more tokens are cached than sent, the vendor does not include them in the prompt. */
export function freshInput(prompt: number, cacheRead: number, cacheWrite: number): number {
  return cacheRead > prompt ? prompt : Math.max(0, prompt - cacheRead - cacheWrite);
}
