/** Observes answers in the native lane: usage, stop reason, errors. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamSummary, StreamObserver } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeStopReason } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { decodeStreamError } from "./errors.ts";

/**
 * An answer is complete only with `message_stop`: a stop reason without it means that the connection broke before the last
 * event, and the SDK of the client fails too.
 */
export const watch: StreamObserver = {
  deltas: ["text", "thinking", "partial_json"],
  marks: [
    "message_stop",
    '"output_tokens"',
    '"stop_reason":"',
    '"stop_reason": "',
    '"error"',
    "event: error",
  ],
  terminator: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  frame(frame: Frame, seen: StreamSummary): void {
    const data = parseJson(frame.data);
    if (isErrorFrame(frame, data)) {
      if (!seen.terminated) seen.error ??= decodeStreamError(data ?? frame.data);
      return;
    }
    if (!isObject(data)) return;
    const read = READERS.get(String(data.type));
    if (read && !seen.terminated) read(data, seen);
  },
  judgedByOutline: true,
  answer(body: JsonObject, seen: StreamSummary): void {
    if (body.type === "error" || isObject(body.error)) {
      seen.error = decodeErrorBody(body);
      return;
    }
    readUsage(body.usage, seen, true);
    if (typeof body.stop_reason === "string") seen.finish = decodeStopReason(body);
    seen.terminated = seen.complete = body.type === "message";
  },
};

/** Whether a frame is an error: by the name of the event, by `type`, or by `error` in data without a type. */
export function isErrorFrame(frame: Frame, data: Json | undefined): boolean {
  if (frame.event === "error") return true;
  if (!isObject(data)) return false;
  return (
    data.type === "error" ||
    (data.type === undefined && (isObject(data.error) || typeof data.error === "string"))
  );
}

const READERS: ReadonlyMap<string, (data: JsonObject, seen: StreamSummary) => void> = new Map(
  Object.entries<(data: JsonObject, seen: StreamSummary) => void>({
    message_start(data, seen) {
      if (isObject(data.message)) readUsage(data.message.usage, seen, false);
    },
    message_delta(data, seen) {
      readUsage(data.usage, seen, true);
      if (!isObject(data.delta) || typeof data.delta.stop_reason !== "string") return;
      seen.finish = decodeStopReason(data.delta);
      seen.finished = true;
    },
    message_stop(_data, seen) {
      seen.terminated = seen.complete = true;
    },
  }),
);

function readUsage(usage: Json | undefined, seen: StreamSummary, isEnd: boolean): void {
  if (isObject(usage)) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, decodeUsage(usage, isEnd));
}
