/** A chat-completions stream → canonical events. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { AnswerReader } from "./answer-reader.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { errorIn } from "./errors.ts";
import { StopWatcher, watchedStops } from "./stop.ts";

/** @throws GatewayError on an error frame, on a frame that is not JSON, and when the stream ends before its answer. */
export function decodeStream(frames: AsyncIterable<Frame>, call: Call): AsyncIterable<ChatEvent> {
  const stops = watchedStops(call, call.request);
  return stops.length === 0 ? readStream(frames, call) : cutAt(stops, readStream(frames, call));
}

async function* readStream(frames: AsyncIterable<Frame>, call: Call): AsyncGenerator<ChatEvent> {
  const reader = new AnswerReader(call);
  const source = frames[Symbol.asyncIterator]();
  let done = false;
  try {
    while (!done) {
      const frame = await nextFrame(source, () => reader.finished && !call.stop.aborted);
      if (!frame) break;
      const data = frame.data.trim();
      done = data === "[DONE]";
      const chunk = done || data === "" ? undefined : chunkOf(frame, data);
      // Not `yield*`: over a list that costs two more promises for each event.
      if (chunk) for (const event of reader.read(chunk)) yield event;
    }
  } finally {
    await source.return?.();
  }
  if (!done && !reader.finished && !call.target?.provider.traits?.eofIsStop) throw truncated();
  for (const event of reader.end()) yield event;
}

/** The chunk in a frame; nothing in events of another name that hold no JSON. */
function chunkOf(frame: Frame, data: string): JsonObject | undefined {
  const chunk = parseJson(data);
  const error = errorIn(frame, chunk);
  if (error !== undefined) throw decodeErrorBody(error);
  if (isObject(chunk)) return chunk;
  if (frame.event !== undefined && chunk === undefined) return undefined;
  throw new GatewayError(
    "upstream",
    "The provider sent something in its stream that is not part of an answer.",
    {
      code: "upstream_invalid_answer",
    },
  );
}

function truncated(): GatewayError {
  return new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
    code: "stream_incomplete",
  });
}

/** A connection that breaks when the answer is whole takes nothing away from it. */
async function nextFrame(source: AsyncIterator<Frame>, isWhole: () => boolean): Promise<Frame | undefined> {
  try {
    const { done, value } = await source.next();
    return done ? undefined : value;
  } catch (broken) {
    if (isWhole()) return undefined;
    throw broken;
  }
}

/** The events up to the first watched stop sequence; the upstream is left there. */
export async function* cutAt(
  sequences: readonly string[],
  events: AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent> {
  const watcher = new StopWatcher(sequences);
  for await (const event of events) {
    for (const passed of watcher.watch(event)) yield passed;
    if (watcher.ended) return;
  }
}
