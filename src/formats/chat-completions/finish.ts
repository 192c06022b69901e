/** Why an answer ended: the format's words, what vendors make of them, and the canonical ones. */
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";

/** The five words of the format, and those other vendors put in their place. Others end like `stop`. */
const KINDS: Record<string, FinishKind> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
  // Mistral, when the context is full; older llama.cpp and TGI.
  model_length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  // Hosts that pass the words of the model's own vendor on.
  end_turn: "stop",
  eos: "stop",
  tool_use: "tool-calls",
  refusal: "content-filter",
  safety: "content-filter",
};

/** Words that mean the answer failed: what was written is not an answer (OpenRouter, Mistral, DeepSeek). */
const FAILURES: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);

const WORDS: Record<FinishKind, string> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  pause: "stop",
};

/** Whether `finish_reason` says that the answer failed. */
export function isFailure(raw: string): boolean {
  return FAILURES.has(raw);
}

/**
 * The finish reason of a choice, when it has one; some servers send `""` for null. OpenRouter has the vendor's own word
 * beside it and says `tool_calls` where that one says that the tokens ran out: then the call is cut off.
 */
export function readFinishReason({
  finish_reason: raw,
  native_finish_reason: native,
}: JsonObject): string | undefined {
  if (typeof raw !== "string" || raw === "") return undefined;
  return typeof native === "string" && getOwn(KINDS, native.toLowerCase()) === "length" ? "length" : raw;
}

/** What was read of an answer, as far as the meaning of its ending depends on it. */
export interface Read {
  toolCalls: number;
  /** A refusal was part of the answer. */
  refused: boolean;
  /** `choices[].stop_reason` of vLLM: the stop sequence that matched, or a token id. */
  stopReason?: Json;
}

/**
 * Decodes a `finish_reason`. A tool call in the answer and `tool-calls` stand for each other, except that
 * running out of tokens and the filter always win.
 */
export function decodeFinishReason(raw: string | undefined, read: Read): FinishReason {
  const kind = kindOf(raw === undefined ? undefined : (getOwn(KINDS, raw.toLowerCase()) ?? "stop"), read);
  return {
    kind,
    ...(raw !== undefined && { raw }),
    ...(kind === "stop-sequence" && { stopSequence: String(read.stopReason) }),
  };
}

function kindOf(said: FinishKind | undefined, read: Read): FinishKind {
  if (said === "length" || said === "content-filter") return said;
  if (read.toolCalls > 0) return "tool-calls";
  if (read.refused) return "content-filter";
  return typeof read.stopReason === "string" && read.stopReason !== "" ? "stop-sequence" : "stop";
}

/** The word for the client; only one of the five ever leaves. */
export function encodeFinishReason(
  reason: FinishReason,
  toolCalls: number,
  legacyFunctions: boolean,
): string {
  if (reason.kind === "length" || reason.kind === "content-filter") return WORDS[reason.kind];
  if (toolCalls > 0) return legacyFunctions ? "function_call" : "tool_calls";
  return reason.kind === "tool-calls" ? "stop" : WORDS[reason.kind];
}

/** Said in `refusal` when the vendor gave no explanation. */
const NEUTRAL_REFUSAL = "The model declined to answer.";

/**
 * The text of `message.refusal` that the ending itself brings: the vendor's explanation, or a neutral sentence where a
 * model refused without one. An answer that was merely filtered has none.
 */
export function refusalOf(reason: FinishReason): string | undefined {
  if (reason.kind !== "content-filter") return undefined;
  return reason.explanation || (reason.raw === "refusal" ? NEUTRAL_REFUSAL : undefined);
}
