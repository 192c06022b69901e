/** What the native lane sees of Messages bytes it passes on: usage, the ending, an error. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamSummary, StreamObserver } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeStopReason } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";

/**
 * A Messages answer is whole only with `message_stop`: a stop reason without it means that the connection broke before
 * the last event, and the client's SDK treats it as broken too.
 */
export const watch: StreamObserver = {
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
      if (!seen.terminated) seen.error ??= decodeErrorBody(data ?? frame.data);
      return;
    }
    if (!isObject(data)) return;
    const read = READERS.get(String(data.type));
    if (read && !seen.terminated) read(data, seen);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    if (body.type === "error" || isObject(body.error)) {
      seen.error = decodeErrorBody(body);
      return;
    }
    noteUsage(body.usage, seen, true);
    if (typeof body.stop_reason === "string") seen.finish = decodeStopReason(body);
    seen.terminated = seen.complete = body.type === "message";
  },
};

/** An error under either name: the event's, the data's type, or an `error` object in an otherwise typeless record. */
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
      if (isObject(data.message)) noteUsage(data.message.usage, seen, false);
    },
    message_delta(data, seen) {
      noteUsage(data.usage, seen, true);
      if (!isObject(data.delta) || typeof data.delta.stop_reason !== "string") return;
      seen.finish = decodeStopReason(data.delta);
      seen.finished = true;
    },
    message_stop(_data, seen) {
      seen.terminated = seen.complete = true;
    },
  }),
);

function noteUsage(usage: Json | undefined, seen: StreamSummary, isEnd: boolean): void {
  if (isObject(usage)) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, decodeUsage(usage, isEnd));
}
