/** Observes how far a stream has come. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamObserver, StreamSummary } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeStopReason, failureOf } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import { decodeAwsException } from "../../shared/aws-error.ts";

/** The stop reason completes an answer; `metadata` with the token counts follows it. */
export const watch: StreamObserver = {
  deltas: ["text"],
  marks: ['"stopReason":', '"usage":', '"message":'],
  frame(frame: Frame, seen: StreamSummary): void {
    if (seen.terminated) return;
    const data = parseJson(frame.data);
    if (frame.event === "exception" || frame.event === "error") seen.error ??= decodeAwsException(data);
    else if (isObject(data)) READERS.get(frame.event)?.(data, seen);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    noteStop(body, seen);
    noteUsage(body, seen);
    seen.terminated = seen.complete;
  },
};

const READERS: ReadonlyMap<string | undefined, (data: JsonObject, seen: StreamSummary) => void> = new Map([
  ["messageStop", noteStop],
  [
    "metadata",
    (data: JsonObject, seen: StreamSummary) => {
      noteUsage(data, seen);
      seen.terminated = seen.complete;
    },
  ],
]);

function noteStop(data: JsonObject, seen: StreamSummary): void {
  if (typeof data.stopReason !== "string") return;
  seen.error ??= failureOf(data);
  if (seen.error) return;
  seen.finish = decodeStopReason(data);
  seen.finished = seen.complete = true;
}

function noteUsage(data: JsonObject, seen: StreamSummary): void {
  const usage = decodeUsage(data);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
}
