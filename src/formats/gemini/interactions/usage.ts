/** Token counts of interactions: those of the input include what was read from a cache, those of the output no reasoning. */
import type { Usage } from "../../../core/events.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";
import { count, freshInput, positive } from "../../shared/token-counts.ts";

export function encodeUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): JsonObject {
  const all = input + cacheRead + cacheWrite;
  return {
    total_input_tokens: all,
    ...(cacheRead > 0 && { total_cached_tokens: cacheRead }),
    total_output_tokens: Math.max(0, output - reasoning),
    total_thought_tokens: reasoning,
    total_tokens: all + output,
  };
}

/** `undefined` if the provider has not counted. */
export function decodeUsage(usage: Json | undefined, tier?: Json): Partial<Usage> | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage.total_input_tokens);
  const output = count(usage.total_output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const cacheRead = count(usage.total_cached_tokens) ?? 0;
  const reasoning = count(usage.total_thought_tokens) ?? 0;
  const searches = list(usage.grounding_tool_count).reduce<number>(
    (sum, entry) => sum + (isObject(entry) ? (count(entry.count) ?? 0) : 0),
    0,
  );
  return {
    ...(input !== undefined && {
      input: freshInput(input, cacheRead, 0) + (count(usage.total_tool_use_tokens) ?? 0),
      cacheRead,
    }),
    output: (output ?? 0) + reasoning,
    reasoning,
    ...(positive(searches) !== undefined && { searches }),
    ...(typeof tier === "string" && { tier }),
    known: "final",
  };
}
