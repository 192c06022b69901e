/** Token counts of completions. */
import type { Usage } from "../../core/events.ts";
import type { Frame, UsageRequest } from "../../core/format.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { count, freshInput, reportedCost } from "../../formats/shared/token-counts.ts";

/** A stream has token counts only if the request asks for them, in one more chunk without choices. */
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

export function encodeUsage(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return { prompt_tokens: prompt, completion_tokens: usage.output, total_tokens: prompt + usage.output };
}

/** @param isEnd the answer has ended: the counts are final @returns undefined: nothing was counted */
export function readUsage({ usage }: JsonObject, isEnd: boolean): Partial<Usage> | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = count(usage.prompt_tokens);
  const output = count(usage.completion_tokens) ?? generated(usage);
  if (prompt === undefined && output === undefined) return undefined;
  // Some servers send zeros in every chunk.
  if (!isEnd && !prompt && !output) return undefined;
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cacheRead = count(details.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? 0;
  const reported = reportedCost(usage);
  return {
    ...(prompt !== undefined && { input: freshInput(prompt, cacheRead, 0), cacheRead }),
    ...(output !== undefined && { output }),
    ...(reported !== undefined && { reported }),
    known: isEnd && prompt !== undefined && output !== undefined ? "final" : "partial",
  };
}

/** OpenAI's legacy models leave `completion_tokens` out where nothing was generated (`max_tokens: 0`): the total says so. */
function generated({ prompt_tokens, total_tokens }: JsonObject): number | undefined {
  const prompt = count(prompt_tokens);
  return prompt !== undefined && prompt > 0 && count(total_tokens) === prompt ? 0 : undefined;
}
