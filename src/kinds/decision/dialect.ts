/** How providers are asked for decisions. There is one dialect, so that every host gets the client's bytes. */
import type { DecisionAnswer, DecisionRequest, DecisionResult } from "../../core/decision.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import { count, freshInput } from "../../formats/shared/token-counts.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { sizeOf } from "./size.ts";

function usageOf({ usage }: JsonObject): KindUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage["input_tokens"]);
  const output = count(usage["output_tokens"]);
  if (input === undefined || output === undefined) return undefined;
  const given = isObject(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const made = isObject(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  const cacheRead = count(given["cached_tokens"]) ?? 0;
  const cacheWrite = count(given["cache_write_tokens"]) ?? 0;
  const reasoning = count(made["reasoning_tokens"]) ?? 0;
  return { input: freshInput(input, cacheRead, cacheWrite), cacheRead, cacheWrite, output, reasoning };
}

export const decisions: KindDialect<DecisionRequest, DecisionAnswer> = {
  id: "decisions",
  sizeOf,
  charges: "tokens",
  encodeRequest({ input, questions }, context) {
    return { model: context.target.model, input, questions: questions as unknown as JsonObject[] };
  },
  readAnswer(text) {
    const body = parseJson(text);
    if (!isObject(body)) return undefined;
    const { answers, model } = body;
    if (!Array.isArray(answers) || !answers.every(isObject)) return undefined;
    const usage = usageOf(body);
    return {
      answers: answers as unknown as DecisionResult[],
      ...(usage && { usage }),
      ...(typeof model === "string" && { model }),
    };
  },
  decodeError,
  isErrorBody: ({ error }) => error !== undefined,
  requestHeaders: ["x-client-request-id", "openai-beta"],
  answerHeaders: ["x-ratelimit-*", "openai-processing-ms", "retry-after", "retry-after-ms", "x-should-retry"],
};
