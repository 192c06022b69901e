/**
 * Token counts of chat-completions. Its `prompt_tokens` contains what was read from and written to the cache, the
 * canonical buckets are disjoint (contract E.3.1).
 */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** The `usage` member of an answer or of the last chunk. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** The counts that are there; what a vendor does not say stays as it was known before. */
export function decodeUsage(value: Json | undefined): Partial<Usage> {
  if (!isObject(value)) return {};
  const prompt = count(value.prompt_tokens);
  const input = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const output = isObject(value.completion_tokens_details) ? value.completion_tokens_details : {};
  // DeepSeek and Moonshot keep the cached tokens beside the sums and not in the details.
  const cacheRead =
    count(input.cached_tokens) ?? count(value.prompt_cache_hit_tokens) ?? count(value.cached_tokens);
  const cacheWrite = count(input.cache_write_tokens) ?? count(input.cache_creation_tokens);
  const completion = count(value.completion_tokens);
  const reasoning = count(output.reasoning_tokens) ?? count(value.reasoning_tokens);
  return {
    ...(prompt !== undefined && { input: freshInput(prompt, cacheRead ?? 0, cacheWrite ?? 0) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(completion !== undefined && { output: outputOf(completion, prompt, reasoning ?? 0, value) }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/** More cached than prompt: a vendor that counts the cached tokens outside. Never negative. */
function freshInput(prompt: number, cacheRead: number, cacheWrite: number): number {
  return cacheRead > prompt ? prompt : Math.max(0, prompt - cacheRead - cacheWrite);
}

/**
 * xAI and Gemini's compatible endpoint leave reasoning out of `completion_tokens` and have it in the total: then the
 * three add up exactly, and reasoning is output.
 */
function outputOf(completion: number, prompt: number | undefined, reasoning: number, usage: JsonObject): number {
  const total = count(usage.total_tokens);
  if (reasoning > 0 && prompt !== undefined && total === prompt + completion + reasoning)
    return completion + reasoning;
  return Math.max(completion, reasoning);
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : undefined;
}
