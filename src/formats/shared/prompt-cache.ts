/** Decodes cache marks and cache options in the shapes of OpenAI. */
import type { Block, CacheMark, Tool, Turn } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/**
 * Decodes a cache mark: OpenAI's `prompt_cache_breakpoint` (30 minutes or 12 hours), or `cache_control`, which OpenRouter
 * and LiteLLM accept on parts.
 */
export function decodeCache(part: JsonObject): { cache?: CacheMark } {
  if (isObject(part.cache_control)) {
    const { ttl } = part.cache_control;
    return { cache: ttl === "5m" || ttl === "1h" ? { ttl } : {} };
  }
  if (!isObject(part.prompt_cache_breakpoint)) return {};
  return { cache: typeof part.prompt_cache_breakpoint.ttl === "string" ? { ttl: "1h" } : {} };
}

/**
 * OpenAI caches prompts without being asked, and its clients expect that: weir marks the whole prompt unless the client
 * sets marks itself or asks for explicit marks only.
 */
export function decodePromptCache(
  body: JsonObject,
  turns: readonly Turn[],
  tools: readonly Tool[],
): CacheMark | undefined {
  if (isObject(body.cache_control)) return body.cache_control.ttl === "1h" ? { ttl: "1h" } : {};
  const options = isObject(body.prompt_cache_options) ? body.prompt_cache_options : {};
  if (options.mode === "explicit" || hasMarks(turns, tools)) return undefined;
  return typeof options.ttl === "string" || body.prompt_cache_retention === "24h" ? { ttl: "1h" } : {};
}

/** Whether the client itself has marked a part of the prompt. */
function hasMarks(turns: readonly Turn[], tools: readonly Tool[]): boolean {
  return tools.some(isMarked) || turns.some(({ blocks }) => blocks.some(isMarked));
}

function isMarked(item: Block | Tool): boolean {
  return "cache" in item;
}
