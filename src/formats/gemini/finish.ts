/** Maps finish reasons: the words of the format and the canonical kinds. */
import { GatewayError } from "../../core/error.ts";
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";

/** Words with one meaning. `OTHER` says nothing, like unknown words: such an answer is never a regular end. */
const KINDS: Record<string, FinishKind> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  MODEL_ARMOR: "content-filter",
  LANGUAGE: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
  NO_IMAGE: "content-filter",
  IMAGE_OTHER: "content-filter",
};

/** The model wrote a call or an answer that Google could not read, or called a tool that the request does not declare. */
const FAILURES: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
]);

/** A client that asks for `enum-encoding=int` gets numbers; https://github.com/googleapis/googleapis, FinishReason. */
const BY_NUMBER: readonly string[] = [
  "FINISH_REASON_UNSPECIFIED",
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "OTHER",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "IMAGE_SAFETY",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
];

/** The `finishReason` of a candidate as a word; `undefined` if it has none. */
export function readFinishReason({ finishReason }: JsonObject): string | undefined {
  if (typeof finishReason === "number") return BY_NUMBER[finishReason] ?? "OTHER";
  return typeof finishReason === "string" && finishReason !== "" ? finishReason : undefined;
}

/** Whether the word means that weir has no answer to pass on. */
export function isFailure(raw: string): boolean {
  return FAILURES.has(raw);
}

/** The error for such a word. The model may do better in a second attempt. */
export function failedGeneration(raw: string): GatewayError {
  return new GatewayError(
    "upstream",
    `The model wrote a tool call or an answer that the provider could not use (${raw}); try again.`,
    { code: "malformed_tool_call" },
  );
}

/** Facts about an answer that decide its finish reason. */
export interface AnswerFacts {
  toolCalls: number;
  /** The answer has a block. */
  hasContent: boolean;
  /** `finishMessage` of the candidate, or `blockReasonMessage`. */
  explanation?: Json;
}

/**
 * Decodes a finish reason. Tool calls and `STOP` become `tool-calls`, because the format has no word for them.
 * @throws GatewayError for a word without a meaning and an answer without content
 */
export function decodeFinishReason(
  raw: string,
  { toolCalls, hasContent, explanation }: AnswerFacts,
): FinishReason {
  const known = getOwn(KINDS, raw);
  const kind = known ?? kindOfUnknown(explanation, toolCalls);
  if (known === undefined && kind === "length" && !hasContent)
    throw new GatewayError("upstream", `The provider ended its answer without content (${raw}); try again.`, {
      code: "empty_answer",
    });
  if (kind === "stop") return { kind: toolCalls > 0 ? "tool-calls" : "stop", raw };
  return { kind, raw, ...(kind === "content-filter" && typeof explanation === "string" && { explanation }) };
}

/** An answer that Google explains was stopped; any other one counts as cut off, unless it ends in calls. */
function kindOfUnknown(explanation: Json | undefined, toolCalls: number): FinishKind {
  if (typeof explanation === "string" && explanation !== "") return "content-filter";
  return toolCalls > 0 ? "tool-calls" : "length";
}

/** The finish reason of an answer whose prompt Google blocked: `promptFeedback.blockReason`. */
export function blockedPrompt(raw: string, explanation: Json | undefined): FinishReason {
  return { kind: "content-filter", raw, ...(typeof explanation === "string" && { explanation }) };
}

/** The format has no words for stop sequences and tool calls. */
const WORDS: Record<FinishKind, string> = {
  stop: "STOP",
  "stop-sequence": "STOP",
  "tool-calls": "STOP",
  pause: "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
};

/** Encodes `finishReason` and `finishMessage`. @param refusal text of refusal blocks */
export function encodeFinish({ kind, raw, explanation }: FinishReason, refusal: string): JsonObject {
  const isFiltered = kind === "content-filter" || (refusal !== "" && kind !== "length");
  if (!isFiltered) return { finishReason: WORDS[kind] };
  const message = explanation ?? (refusal || undefined);
  return {
    finishReason:
      raw !== undefined && getOwn(KINDS, raw) === "content-filter" ? raw : WORDS["content-filter"],
    ...(message !== undefined && { finishMessage: message }),
  };
}
