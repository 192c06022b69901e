/** Decodes `stopReason`. */
import { GatewayError } from "../../core/error.ts";
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** All documented stop reasons but those of failures. An answer with an unknown word counts as cut off; `raw` keeps the word. */
const KINDS: ReadonlyMap<string, FinishKind> = new Map(
  Object.entries<FinishKind>({
    end_turn: "stop",
    stop_sequence: "stop-sequence",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool-calls",
    content_filtered: "content-filter",
    // A guardrail may also mask words only; the text that the provider sent stays.
    guardrail_intervened: "content-filter",
  }),
);

/** Stop reasons of a model that wrote something that Bedrock could not read. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ["malformed_model_output", "The model wrote an answer that the provider could not read; try again."],
  ["malformed_tool_use", "The model wrote a tool call that the provider could not read; try again."],
]);

/**
 * Decodes `stopReason` of an answer or of `messageStop`. The matched stop sequence is in the field that `encodeRequest` asks
 * for.
 */
export function decodeStopReason({
  stopReason,
  additionalModelResponseFields: more,
}: JsonObject): FinishReason {
  const raw = typeof stopReason === "string" ? stopReason : "end_turn";
  const kind = KINDS.get(raw) ?? "length";
  return { kind, raw, ...(kind === "stop-sequence" && matchedIn(more)) };
}

/** The error for a stop reason that means a failure. */
export function failureOf({ stopReason }: JsonObject): GatewayError | undefined {
  const sentence = typeof stopReason === "string" ? FAILURES.get(stopReason) : undefined;
  return sentence === undefined
    ? undefined
    : new GatewayError("upstream", sentence, { code: "upstream_failed", cause: stopReason });
}

function matchedIn(more: Json | undefined): { stopSequence?: string } {
  const matched = isObject(more) ? more.stop_sequence : undefined;
  return typeof matched === "string" ? { stopSequence: matched } : {};
}
