/** Maps finish reasons to the words of the format. */
import type { FinishKind, FinishReason } from "../../core/events.ts";

/** Ollama has words for the first two only; an answer that calls tools ends with `stop`. */
const WORDS: Record<FinishKind, string> = {
  stop: "stop",
  length: "length",
  "stop-sequence": "stop",
  "tool-calls": "stop",
  pause: "stop",
  "content-filter": "content_filter",
};

export function encodeFinish({ kind }: FinishReason): string {
  return WORDS[kind];
}

/** The finish reason of an answer that weir wrote. @param toolCalls number of its tool calls */
export function decodeFinish(raw: string | undefined, toolCalls: number): FinishReason {
  if (raw === WORDS.length) return { kind: "length", raw };
  if (raw === WORDS["content-filter"]) return { kind: "content-filter", raw };
  return { kind: toolCalls > 0 ? "tool-calls" : "stop", ...(raw !== undefined && { raw }) };
}
