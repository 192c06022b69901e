/** Observes answers in the native lane: usage, finish reason, errors. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamObserver, StreamSummary } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import {
  blockedPrompt,
  decodeFinishReason,
  failedGeneration,
  isFailure,
  readFinishReason,
} from "../finish.ts";
import { UsageReader } from "../usage.ts";

/** Streams in which Google runs code: they have a finish reason before each run, and more follows. */
const codeRuns = new WeakSet<StreamSummary>();

/** The end of the body ends a stream; it is complete if a finish reason or the reason of a blocked prompt has come. */
export const watch: StreamObserver = {
  deltas: ["text"],
  marks: ['"finishReason"', '"blockReason"', '"error"', '"executableCode"'],
  frame(frame: Frame, seen: StreamSummary): void {
    const record = parseJson(frame.data);
    if (isObject(record)) observe(record, seen);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    observe(body, seen);
    if (!seen.error) seen.terminated = seen.complete = true;
  },
};

function observe(record: JsonObject, seen: StreamSummary): void {
  if (record.error != null) {
    seen.error ??= decodeErrorBody(record);
    return;
  }
  const [candidate] = list(record.candidates);
  const isEnd =
    isObject(record.promptFeedback) || (isObject(candidate) && readFinishReason(candidate) !== undefined);
  const usage = new UsageReader().read(record, isEnd);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
  if (isObject(candidate)) observeCandidate(candidate, seen);
  const { promptFeedback: feedback } = record;
  if (!isObject(feedback) || typeof feedback.blockReason !== "string") return;
  seen.finish = blockedPrompt(feedback.blockReason, feedback.blockReasonMessage);
  seen.complete = seen.finished = true;
}

function observeCandidate(candidate: JsonObject, seen: StreamSummary): void {
  const parts = isObject(candidate.content) ? list(candidate.content.parts).filter(isObject) : [];
  if (parts.some((part) => part.executableCode !== undefined)) codeRuns.add(seen);
  const raw = readFinishReason(candidate);
  if (raw === undefined) return;
  const toolCalls = parts.filter((part) => part.functionCall !== undefined).length;
  if (isFailure(raw) && toolCalls === 0) {
    seen.error ??= failedGeneration(raw);
    return;
  }
  seen.finish = isFailure(raw)
    ? { kind: "tool-calls", raw }
    : decodeFinishReason(raw, { toolCalls, hasContent: true, explanation: candidate.finishMessage });
  seen.complete = true;
  seen.finished = !codeRuns.has(seen);
}
