/** Token counts of this format. `input_tokens` includes the tokens read from and written to the cache. */
import type { Usage } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";

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
