/**
 * Token counts of chat-completions. `prompt_tokens` includes the tokens read from and written to the cache; the canonical
 * counts are disjoint.
 */
import type { Usage } from "../../core/events.ts";
import type { Frame, UsageRequest } from "../../core/format.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";

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
 * nothing if there are none, or only zeros, which some servers send in every chunk.
 * @param isEnd the finish reason has arrived: counts are final, not running totals
 */
export function readUsage(body: JsonObject, isEnd: boolean): Partial<Usage> | undefined {
  const usage = usageIn(body);
  const counts = usage && decodeUsage(usage);
  if (!counts) return undefined;
  const isFinal = isEnd && counts.input !== undefined && counts.output !== undefined;
  counts.known = isFinal ? "final" : "partial";
  if (typeof body.service_tier === "string") counts.tier = body.service_tier;
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

function decodeUsage(usage: JsonObject): Partial<Usage> | undefined {
  const prompt = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  if (!prompt && !completion) return undefined;
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  // DeepSeek and Moonshot put the cached tokens beside the totals, not into the details.
  const cacheRead =
    count(input.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? count(usage.cached_tokens) ?? 0;
  const cacheWrite = count(input.cache_write_tokens) ?? count(input.cache_creation_tokens) ?? 0;
  const reasoning = count(output.reasoning_tokens) ?? count(usage.reasoning_tokens) ?? 0;
  const counts: Partial<Usage> = {
    audioIn: some(input.audio_tokens),
    imageIn: some(input.image_tokens),
    audioOut: some(output.audio_tokens),
    imageOut: some(output.image_tokens),
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
  const ran = isObject(usage.server_tool_use) ? usage.server_tool_use.web_search_requests : undefined;
  return some(ran) ?? some(usage.num_search_queries) ?? some(usage.num_sources_used);
}

/** The cost that the provider reports: dollars at OpenRouter and Perplexity, ticks of 10^-10 dollars at xAI. */
function reportedCost({ cost, cost_in_usd_ticks: ticks }: JsonObject): number | undefined {
  if (typeof ticks === "number" && ticks >= 0) return Math.round(ticks / 10);
  const dollars = isObject(cost) ? cost.total_cost : cost;
  return typeof dollars === "number" && dollars >= 0 ? Math.round(dollars * 1e9) : undefined;
}

/** Uncached input, never negative. If more tokens are cached than sent, the vendor does not include them in the prompt. */
function freshInput(prompt: number, cacheRead: number, cacheWrite: number): number {
  return cacheRead > prompt ? prompt : Math.max(0, prompt - cacheRead - cacheWrite);
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

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : undefined;
}

function some(value: Json | undefined): number | undefined {
  return count(value) || undefined;
}
