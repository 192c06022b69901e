/**
 * Token counts of chat-completions. `prompt_tokens` includes the tokens read from and written to the cache; the canonical
 * counts are disjoint.
 */
import type { Usage } from "../../core/events.ts";
import { NO_USAGE, usageState } from "../../core/events.ts";
import type { Frame, UsageRequest } from "../../core/format.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { count, freshInput, positive, reportedCost } from "../shared/token-counts.ts";

/**
 * A stream contains token counts only if the request asks for them with `stream_options.include_usage`. They come in one
 * more chunk after the last choice, with `usage` and an empty list of choices
 * (https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options).
 */
export const usageRequest: UsageRequest = {
  member: "stream_options",
  ask(given: Json | undefined): Json | undefined {
    const options = isObject(given) ? given : {};
    return options.include_usage === true ? undefined : { ...options, include_usage: true };
  },
  isAnswer(frame: Frame): boolean {
    const chunk = parseJson(frame.data);
    return (
      isObject(chunk) && isObject(chunk.usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
    );
  },
};

/** Encodes the `usage` member of an answer or of the last chunk. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.audioIn !== undefined && { audio_tokens: usage.audioIn }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...(usage.audioOut !== undefined && { audio_tokens: usage.audioOut }),
    },
  };
}

/**
 * Reads the counts of an answer or a chunk: `usage`, Groq's `x_groq.usage` or Moonshot's `choices[0].usage`. Returns
 * nothing if there are none, or only zeros where others were counted before or can follow: some servers send them in every chunk.
 * @param isEnd the finish reason has arrived: counts are final, not running totals
 * @param before what was counted so far
 */
export function readUsage(
  body: JsonObject,
  isEnd: boolean,
  before: Usage = NO_USAGE,
): Partial<Usage> | undefined {
  const usage = usageIn(body);
  const counts = usage && decodeUsage(usage, isEnd && usageState(before) === "absent");
  if (!counts) return undefined;
  const isFinal = isEnd && counts.input !== undefined && counts.output !== undefined;
  counts.known = isFinal ? "final" : "partial";
  // Mistral puts the tier beside the counts.
  const tier = body.service_tier ?? usage.service_tier;
  if (typeof tier === "string") counts.tier = tier;
  return counts;
}

function usageIn({ usage, x_groq: groq, choices }: JsonObject): JsonObject | undefined {
  if (isObject(usage)) return usage;
  if (isObject(groq) && isObject(groq.usage)) return groq.usage;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(choice) && isObject(choice.usage) ? choice.usage : undefined;
}

/** Marks running totals that include output as final when the answer has ended. */
export function settleUsage(usage: Usage): Usage {
  return usage.known === "partial" && usage.output > 0 ? { ...usage, known: "final" } : usage;
}

function decodeUsage(usage: JsonObject, allowsZeros: boolean): Partial<Usage> | undefined {
  const prompt = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  const isZero = prompt === 0 && completion === 0;
  if (!prompt && !completion && !(isZero && allowsZeros)) return undefined;
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  // DeepSeek and Moonshot put the cached tokens beside the totals, not into the details.
  const cacheRead =
    count(input.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? count(usage.cached_tokens) ?? 0;
  const cacheWrite = count(input.cache_write_tokens) ?? count(input.cache_creation_tokens) ?? 0;
  const reasoning = count(output.reasoning_tokens) ?? count(usage.reasoning_tokens) ?? 0;
  const counts: Partial<Usage> = {
    audioIn: positive(input.audio_tokens),
    imageIn: positive(input.image_tokens),
    audioOut: positive(output.audio_tokens),
    imageOut: positive(output.image_tokens),
    searches: searchesOf(usage),
    reported: reportedCost(usage),
  };
  if (prompt !== undefined) {
    counts.input = freshInput(prompt, cacheRead, cacheWrite);
    counts.cacheRead = cacheRead;
    counts.cacheWrite = cacheWrite;
  }
  if (completion !== undefined) {
    counts.output = outputOf(completion, prompt, reasoning, usage);
    counts.reasoning = reasoning;
  }
  return counts;
}

/** Number of web searches, in the fields of OpenRouter, Perplexity and xAI. */
function searchesOf(usage: JsonObject): number | undefined {
  const tools = usage.server_tool_use ?? usage.server_tool_use_details;
  const ran = isObject(tools) ? tools.web_search_requests : undefined;
  return positive(ran) ?? positive(usage.num_search_queries) ?? positive(usage.num_sources_used);
}

/**
 * Output including reasoning. xAI and the compatible endpoint of Gemini omit reasoning from `completion_tokens` but
 * include it in the total: then prompt, completion and reasoning add up to the total.
 */
function outputOf(
  completion: number,
  prompt: number | undefined,
  reasoning: number,
  usage: JsonObject,
): number {
  const total = count(usage.total_tokens);
  if (reasoning > 0 && prompt !== undefined && total === prompt + completion + reasoning)
    return completion + reasoning;
  return Math.max(completion, reasoning);
}
