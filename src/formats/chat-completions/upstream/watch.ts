/** Observes answers in the native lane: usage, finish reason, errors. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamSummary, StreamObserver } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeFinishReason, readFinishReason } from "../finish.ts";
import { readUsage, settleUsage } from "../usage.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { errorIn } from "./errors.ts";

/**
 * An answer is complete with `[DONE]`, or when each choice has a finish reason, because some servers omit the terminator.
 * The marks include the index of further choices, so that a choice that was cut off does not count as finished.
 */
export const watch: StreamObserver = {
  deltas: ["content", "reasoning_content", "reasoning", "arguments"],
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
  choicesMember: "n",
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
  judgedByOutline: true,
  answer(body: JsonObject, seen: StreamSummary): void {
    const error = errorIn({ data: "" }, body);
    const choices = Array.isArray(body.choices) ? body.choices : undefined;
    if (error !== undefined) seen.error = decodeErrorBody(error);
    else {
      let isEnd = choices !== undefined && choices.length > 0;
      for (const choice of choices ?? [])
        if (isObject(choice)) isEnd = readFinish(choice, indexOf(choice), seen) && isEnd;
      noteUsage(body, seen, isEnd);
    }
    seen.complete = seen.terminated = choices !== undefined;
    if (seen.usage) seen.usage = settleUsage(seen.usage);
  },
};

/** Whether each choice of an answer has ended, by its index. */
const choicesOf = new WeakMap<StreamSummary, Map<number, boolean>>();

function read(body: JsonObject, seen: StreamSummary): void {
  if (Array.isArray(body.choices)) readChoices(body.choices, seen);
  noteUsage(body, seen, seen.complete);
}

function noteUsage(body: JsonObject, seen: StreamSummary, isEnd: boolean): void {
  const usage = readUsage(body, isEnd, seen.usage);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
}

function readChoices(choices: readonly Json[], seen: StreamSummary): void {
  if (choices.length === 0) return;
  let ended = choicesOf.get(seen);
  if (!ended) choicesOf.set(seen, (ended = new Map()));
  for (const choice of choices) {
    if (!isObject(choice)) continue;
    const index = indexOf(choice);
    ended.set(index, readFinish(choice, index, seen) || ended.get(index) === true);
  }
  seen.complete = seen.finished = [...ended.values()].every(Boolean);
}

function indexOf({ index }: JsonObject): number {
  return typeof index === "number" ? index : 0;
}

/** Whether the choice has ended. */
function readFinish(choice: JsonObject, index: number, seen: StreamSummary): boolean {
  const raw = readFinishReason(choice);
  if (raw !== undefined && index === 0)
    seen.finish = decodeFinishReason(raw, {
      // The native lane does not read the calls themselves.
      toolCalls: /^(?:tool|function)_/.test(raw) ? 1 : 0,
      refused: false,
      stopReason: choice.stop_reason,
    });
  return raw !== undefined;
}
