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

/** The cost that the provider reports: dollars at OpenRouter and Perplexity, ticks of 10^-10 dollars at xAI. */
export function reportedCost({ cost, cost_in_usd_ticks: ticks }: JsonObject): number | undefined {
  if (typeof ticks === "number" && ticks >= 0) return Math.round(ticks / 10);
  const dollars = isObject(cost) ? cost.total_cost : cost;
  return typeof dollars === "number" && dollars >= 0 ? Math.round(dollars * 1e9) : undefined;
}

/** Uncached input, never negative. If more tokens are cached than sent, the vendor does not include them in the prompt. */
export function freshInput(prompt: number, cacheRead: number, cacheWrite: number): number {
  return cacheRead > prompt ? prompt : Math.max(0, prompt - cacheRead - cacheWrite);
}
