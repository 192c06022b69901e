/** Why an answer ended: the format's words and the canonical ones. */
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** Every documented stop reason. A word nobody knows ends like `end_turn`, with its own word kept beside. */
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

/** Reads `stop_reason` with its companions, from a message or from the delta of a `message_delta`. */
export function decodeStopReason({ stop_reason, stop_sequence, stop_details }: JsonObject): FinishReason {
  const raw = typeof stop_reason === "string" ? stop_reason : "end_turn";
  const kind = KINDS.get(raw) ?? "stop";
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

/** What was written of an answer, as far as its ending depends on it. */
export interface Written {
  toolCalls: number;
  /** Calls the vendor's own code execution made: `tool_use` may stand for them, and need not. */
  foreignCalls: number;
  /** Text of refusal blocks. */
  refusal: string;
}

/**
 * `stop_reason`, `stop_sequence` and `stop_details`. A tool call in the answer and `tool_use` stand for each other, except
 * that running out of tokens always wins: its last call may be cut.
 */
export function encodeStopReason(reason: FinishReason, written: Written): JsonObject {
  const word = wordOf(reason, written);
  return {
    stop_reason: word,
    stop_sequence: word === "stop_sequence" ? (reason.stopSequence ?? null) : null,
    stop_details:
      word === "refusal"
        ? {
            type: "refusal",
            category: null,
            explanation: reason.explanation ?? (written.refusal || null),
          }
        : null,
  };
}

function wordOf(reason: FinishReason, written: Written): string {
  const own =
    reason.raw !== undefined && KINDS.get(reason.raw) === reason.kind ? reason.raw : WORDS[reason.kind];
  if (reason.kind === "length") return own;
  if (written.toolCalls > 0) return "tool_use";
  if (reason.kind === "content-filter" || written.refusal) return "refusal";
  return reason.kind === "tool-calls" && written.foreignCalls === 0 ? "end_turn" : own;
}
