/** What the native lane sees of chat-completions bytes it passes on: usage, the ending, an error. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamSummary, StreamObserver } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeFinishReason, readFinishReason } from "../finish.ts";
import { readUsage, settleUsage } from "../usage.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { errorIn } from "./errors.ts";

/**
 * An answer is whole with `[DONE]`, or when each of its choices gave a finish reason: servers leave the terminator out.
 * Choices behind the first are marked by their index, so that one that was cut off is not taken for finished.
 */
export const watch: StreamObserver = {
  marks: [
    "[DONE]",
    '"completion_tokens"',
    '"finish_reason":"',
    '"finish_reason": "',
    '"error"',
    "event: error",
    "event:error",
    '"index":1',
    '"index": 1',
  ],
  terminator: "data: [DONE]\n\n",
  frame(frame: Frame, seen: StreamSummary): void {
    if (frame.data.trim() === "[DONE]") {
      seen.terminated = seen.complete = true;
      if (seen.usage) seen.usage = settleUsage(seen.usage);
      return;
    }
    const chunk = parseJson(frame.data);
    const error = errorIn(frame, chunk);
    if (error !== undefined && !seen.terminated) seen.error ??= decodeErrorBody(error);
    if (isObject(chunk)) read(chunk, seen);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    const error = errorIn({ data: "" }, body);
    if (error !== undefined) seen.error = decodeErrorBody(error);
    else read(body, seen);
    seen.complete = seen.terminated = Array.isArray(body.choices);
    if (seen.usage) seen.usage = settleUsage(seen.usage);
  },
};

/** Indexes of the choices of a passing answer, and whether each has ended. */
const choicesOf = new WeakMap<StreamSummary, Map<number, boolean>>();

function read(body: JsonObject, seen: StreamSummary): void {
  if (Array.isArray(body.choices)) noteChoices(body.choices, seen);
  const usage = readUsage(body, seen.complete);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
}

function noteChoices(choices: readonly Json[], seen: StreamSummary): void {
  if (choices.length === 0) return;
  let ended = choicesOf.get(seen);
  if (!ended) choicesOf.set(seen, (ended = new Map()));
  for (const choice of choices) if (isObject(choice)) noteChoice(choice, ended, seen);
  seen.complete = seen.finished = [...ended.values()].every(Boolean);
}

function noteChoice(choice: JsonObject, ended: Map<number, boolean>, seen: StreamSummary): void {
  const index = typeof choice.index === "number" ? choice.index : 0;
  const raw = readFinishReason(choice);
  ended.set(index, raw !== undefined || ended.get(index) === true);
  if (raw !== undefined && index === 0)
    seen.finish = decodeFinishReason(raw, {
      // The calls themselves pass unread.
      toolCalls: /^(?:tool|function)_/.test(raw) ? 1 : 0,
      refused: false,
      stopReason: choice.stop_reason,
    });
}
