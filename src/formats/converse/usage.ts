/** Token counts of the Converse format; they are disjoint, like the canonical counts. */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { count } from "../shared/token-counts.ts";

/**
 * Decodes `usage` and `serviceTier` of an answer or of a `metadata` event; `undefined` if nothing was counted. The service
 * sends the cache counts under a second name too (`cacheReadInputTokenCount`), which weir ignores.
 */
export function decodeUsage({ usage, serviceTier }: JsonObject): Partial<Usage> | undefined {
  if (!isObject(usage)) return undefined;
  const written = list(usage.cacheDetails).filter(isObject);
  const forAnHour = written
    .filter(({ ttl }) => ttl === "1h")
    .map(({ inputTokens }) => count(inputTokens) ?? 0);
  return {
    input: count(usage.inputTokens),
    cacheRead: count(usage.cacheReadInputTokens),
    cacheWrite: count(usage.cacheWriteInputTokens),
    cacheWrite1h: forAnHour.length > 0 ? forAnHour.reduce((sum, tokens) => sum + tokens, 0) : undefined,
    output: count(usage.outputTokens),
    tier: tierOf(serviceTier),
    known: "final",
  };
}

function tierOf(tier: Json | undefined): string | undefined {
  return isObject(tier) && typeof tier.type === "string" ? tier.type : undefined;
}
