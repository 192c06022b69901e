/** Observes completions in the native lane: usage, finish reason, errors. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamObserver, StreamSummary } from "../../../core/format.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { decodeErrorBody } from "../../../formats/shared/upstream-error.ts";
import { settledUsage } from "../settled.ts";
import { readUsage } from "../usage.ts";
import { finishOf } from "./answer.ts";
import { errorIn } from "./errors.ts";

/**
 * Every event is read that ends a choice or has the index of a further one: an answer is complete with `[DONE]`, or when each choice
 * has a finish reason.
 */
export const watch: StreamObserver = {
  deltas: ["text", "content"],
  marks: [
    ...[
      "[DONE]",
      '"completion_tokens"',
      '"finish_reason":"',
      '"finish_reason": "',
      '"error"',
      "event: error",
    ],
    ...["event:error", '"index":1', '"index": 1'],
  ],
  choicesMember: "n",
  terminator: "data: [DONE]\n\n",
  frame(frame: Frame, seen: StreamSummary): void {
    if (frame.data.trim() === "[DONE]") {
      seen.terminated = seen.complete = true;
      if (seen.usage) seen.usage = settledUsage(seen.usage);
      return;
    }
    const chunk = parseJson(frame.data);
    const error = errorIn(frame, chunk);
    if (error !== undefined && !seen.terminated) seen.error ??= decodeErrorBody(error);
    if (!isObject(chunk)) return;
    if (Array.isArray(chunk.choices)) readChoices(chunk.choices, seen);
    noteUsage(chunk, seen, seen.complete);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    const error = errorIn({ data: "" }, body);
    const choices = Array.isArray(body.choices) ? body.choices : undefined;
    if (error !== undefined) seen.error = decodeErrorBody(error);
    else {
      if (choices) readChoices(choices, seen);
      noteUsage(body, seen, true);
    }
    seen.complete = seen.terminated = choices !== undefined;
    if (seen.usage) seen.usage = settledUsage(seen.usage);
  },
};

/** Whether each choice of an answer has ended, by its index. */
const choicesOf = new WeakMap<StreamSummary, Map<number, boolean>>();

function noteUsage(body: JsonObject, seen: StreamSummary, isEnd: boolean): void {
  const usage = readUsage(body, isEnd);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
}

function readChoices(choices: readonly Json[], seen: StreamSummary): void {
  if (choices.length === 0) return;
  let ended = choicesOf.get(seen);
  if (!ended) choicesOf.set(seen, (ended = new Map()));
  for (const choice of choices) {
    if (!isObject(choice)) continue;
    const index = typeof choice.index === "number" ? choice.index : 0;
    const { finish_reason: raw } = choice;
    const isEnd = typeof raw === "string" && raw !== "";
    if (isEnd && index === 0) seen.finish = finishOf(raw);
    ended.set(index, isEnd || ended.get(index) === true);
  }
  seen.complete = seen.finished = [...ended.values()].every(Boolean);
}
