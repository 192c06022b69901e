/** Token counts of this format. `input_tokens` includes the tokens read from and written to the cache. */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { count, freshInput, positive, reportedCost } from "../shared/token-counts.ts";

/** Encodes the `usage` member of an answer. Clients require both objects with details. */
export function encodeUsage(usage: Usage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}

/** Reads the counts of a response that has ended. Returns nothing if there are none. */
export function decodeUsage({
  usage,
  service_tier: tier,
  output: items,
}: JsonObject): Partial<Usage> | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const { cached_tokens: cached, cache_write_tokens: written } = details(usage.input_tokens_details);
  const reasoning = count(details(usage.output_tokens_details).reasoning_tokens) ?? 0;
  const cacheRead = count(cached) ?? 0;
  const cacheWrite = count(written) ?? 0;
  return {
    ...(input !== undefined && { input: freshInput(input, cacheRead, cacheWrite), cacheRead, cacheWrite }),
    ...(output !== undefined && { output: Math.max(output, reasoning), reasoning }),
    searches: positive(usage.num_sources_used) ?? positive(list(items).filter(isSearch).length),
    reported: reportedCost(usage),
    ...(typeof tier === "string" && { tier }),
    known: input !== undefined && output !== undefined ? "final" : "partial",
  };
}

/** A web search. Opening a page and finding text in it are calls of the same tool, and cost nothing. */
function isSearch(item: Json): boolean {
  if (!isObject(item) || item.type !== "web_search_call") return false;
  return !isObject(item.action) || item.action.type === "search";
}

function details(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
