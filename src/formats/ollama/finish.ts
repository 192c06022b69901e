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
