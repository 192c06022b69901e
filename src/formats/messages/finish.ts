/** Maps stop reasons: the words of the format and the canonical kinds. */
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** All documented stop reasons. An answer with an unknown word counts as cut off; `raw` keeps the word. */
const KINDS: ReadonlyMap<string, FinishKind> = new Map(
  Object.entries<FinishKind>({
    end_turn: "stop",
    stop_sequence: "stop-sequence",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool-calls",
    refusal: "content-filter",
    pause_turn: "pause",
    compaction: "stop",
  }),
);

const WORDS: Record<FinishKind, string> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
  pause: "pause_turn",
};

/** Decodes `stop_reason`, `stop_sequence` and `stop_details` of a message or of the delta of a `message_delta`. */
export function decodeStopReason({ stop_reason, stop_sequence, stop_details }: JsonObject): FinishReason {
  const raw = typeof stop_reason === "string" ? stop_reason : "end_turn";
  const kind = KINDS.get(raw) ?? "length";
  return {
    kind,
    raw,
    ...(kind === "stop-sequence" && typeof stop_sequence === "string" && { stopSequence: stop_sequence }),
    ...explanationOf(stop_details),
  };
}

function explanationOf(details: Json | undefined): { explanation?: string } {
  return isObject(details) && typeof details.explanation === "string"
    ? { explanation: details.explanation }
    : {};
}

/** Facts about a facts answer that decide its stop reason. */
export interface AnswerFacts {
  toolCalls: number;
  /** Calls by the vendor's code execution: `tool_use` is allowed after them, but not required. */
  foreignCalls: number;
  /** Text of refusal blocks. */
  refusal: string;
}

/**
 * Encodes `stop_reason`, `stop_sequence` and `stop_details`. A tool call in the answer and `tool_use` imply each other,
 * except that the output limit takes precedence: it may have cut the last call.
 */
export function encodeStopReason(reason: FinishReason, facts: AnswerFacts): JsonObject {
  const word = wordOf(reason, facts);
  return {
    stop_reason: word,
    stop_sequence: word === "stop_sequence" ? (reason.stopSequence ?? null) : null,
    stop_details:
      word === "refusal"
        ? {
            type: "refusal",
            category: null,
            explanation: reason.explanation ?? (facts.refusal || null),
          }
        : null,
  };
}

function wordOf(reason: FinishReason, facts: AnswerFacts): string {
  const own =
    reason.raw !== undefined && KINDS.get(reason.raw) === reason.kind ? reason.raw : WORDS[reason.kind];
  if (reason.kind === "length") return own;
  if (facts.toolCalls > 0) return "tool_use";
  if (reason.kind === "content-filter" || facts.refusal) return "refusal";
  return reason.kind === "tool-calls" && facts.foreignCalls === 0 ? "end_turn" : own;
}
