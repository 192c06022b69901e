/** Maps finish reasons: the words of the format and of its vendors, and the canonical kinds. */
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";

/** The five words of the format and those of other vendors. An answer with an unknown word counts as cut off. */
const KINDS: Record<string, FinishKind> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
  // Mistral when the context is full; older llama.cpp and TGI.
  model_length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  // Hosts that pass on the words of the model's vendor.
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  complete: "stop",
  completed: "stop",
  tool_call: "tool-calls",
  tool_use: "tool-calls",
  refusal: "content-filter",
  safety: "content-filter",
  // Zhipu.
  sensitive: "content-filter",
  model_context_window_exceeded: "length",
};

/** Words that mean that generation failed (OpenRouter, Mistral, DeepSeek, Zhipu). */
const FAILURES: ReadonlySet<string> = new Set(["error", "insufficient_system_resource", "network_error"]);

const WORDS: Record<FinishKind, string> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  pause: "stop",
};

/** Whether `finish_reason` means that generation failed. */
export function isFailure(raw: string): boolean {
  return FAILURES.has(raw);
}

/**
 * Returns the finish reason of a choice, if any; some servers send `""` for null. OpenRouter sends the vendor's word in
 * `native_finish_reason`, and may say `tool_calls` where the vendor says that the tokens ran out: then the call is cut off.
 */
export function readFinishReason({
  finish_reason: raw,
  native_finish_reason: native,
}: JsonObject): string | undefined {
  if (typeof raw !== "string" || raw === "") return undefined;
  return typeof native === "string" && getOwn(KINDS, native.toLowerCase()) === "length" ? "length" : raw;
}

/** Facts about an answer that decide its finish reason. */
export interface AnswerFacts {
  toolCalls: number;
  /** The answer contains a refusal. */
  refused: boolean;
  /** `choices[].stop_reason` of vLLM: the stop sequence that matched, or a token id. */
  stopReason?: Json;
}

/**
 * Decodes a `finish_reason`. A tool call in the answer and `tool-calls` imply each other, because some vendors say `stop`
 * after a call; `length` and `content-filter` take precedence.
 */
export function decodeFinishReason(raw: string | undefined, facts: AnswerFacts): FinishReason {
  const said = raw === undefined ? "stop" : getOwn(KINDS, raw.toLowerCase());
  const kind = kindOf(said, facts);
  return {
    kind,
    ...(raw !== undefined && { raw }),
    ...(kind === "stop-sequence" && { stopSequence: String(facts.stopReason) }),
  };
}

/** @param said absent: an unknown word */
function kindOf(said: FinishKind | undefined, facts: AnswerFacts): FinishKind {
  if (said === "length" || said === "content-filter") return said;
  if (facts.toolCalls > 0) return "tool-calls";
  if (facts.refused) return "content-filter";
  if (typeof facts.stopReason === "string" && facts.stopReason !== "") return "stop-sequence";
  return said === undefined ? "length" : "stop";
}

/** Encodes a finish reason as one of the five words of the format: typed clients fail on any other. */
export function encodeFinishReason(
  reason: FinishReason,
  toolCalls: number,
  legacyFunctions: boolean,
): string {
  if (reason.kind === "length" || reason.kind === "content-filter") return WORDS[reason.kind];
  if (toolCalls > 0) return legacyFunctions ? "function_call" : "tool_calls";
  return reason.kind === "tool-calls" ? "stop" : WORDS[reason.kind];
}

/** Value of `refusal` if the vendor gave no explanation. */
const NEUTRAL_REFUSAL = "The model declined to answer.";

/**
 * Returns the text for `message.refusal` that belongs to the finish reason: the vendor's explanation, or a neutral
 * sentence if the model refused without one. An answer that a filter stopped has none.
 */
export function refusalOf(reason: FinishReason): string | undefined {
  if (reason.kind !== "content-filter") return undefined;
  return reason.explanation || (reason.raw === "refusal" ? NEUTRAL_REFUSAL : undefined);
}
