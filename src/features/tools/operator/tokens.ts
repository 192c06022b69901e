/** What a tool costs: the tokens of its definition, and the price of a call. */
import { TextEstimate } from "../../../core/estimate.ts";
import { globMatches } from "../../../core/glob.ts";
import type { JsonObject } from "../../../core/json.ts";

/** Members that models get. */
const OFFERED = ["name", "description", "inputSchema"] as const;

/** Estimated tokens of a definition, as a model reads it. */
export function tokensOf(definition: JsonObject): number {
  const offered = Object.fromEntries(OFFERED.map((name) => [name, definition[name]]));
  const estimate = new TextEstimate();
  estimate.add(JSON.stringify(offered));
  return estimate.tokens;
}

/** Dollars for one call of `SERVER__TOOL`: the last pattern that matches counts. */
export function priceOf(prices: Readonly<Record<string, number>> | undefined, name: string): number {
  return Object.entries(prices ?? {}).findLast(([pattern]) => globMatches(pattern, name))?.[1] ?? 0;
}
