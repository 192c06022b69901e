/** A chat-completions stream → canonical events (contract E.6). */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { AnswerReader } from "./answer-reader.ts";
import { decodeErrorBody, errorIn } from "./errors.ts";
import { StopWatcher, watchedStops } from "./stop.ts";

/** @throws GatewayError on an error frame, on a frame that is not JSON, and when the stream ends before its answer. */
export async function* decodeStream(frames: AsyncIterable<Frame>, call: Call): AsyncGenerator<ChatEvent> {
  const stops = watchedStops(call, call.request);
  if (stops.length === 0) return yield* readStream(frames, call);
  yield* cutAt(stops, readStream(frames, call));
}

async function* readStream(frames: AsyncIterable<Frame>, call: Call): AsyncGenerator<ChatEvent> {
  const reader = new AnswerReader(call);
  let done = false;
  for await (const frame of untilBroken(frames, () => reader.finished && !call.signal.aborted)) {
    const data = frame.data.trim();
    if (data === "") continue;
    done = data === "[DONE]";
    if (done) break;
    const chunk = chunkOf(frame, data);
    if (chunk) yield* reader.read(chunk);
  }
  if (!done && !reader.finished && !call.target?.provider.traits?.eofIsStop) throw truncated();
  yield* reader.end();
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

/** A connection that breaks when the answer is whole takes nothing away from it (pitfall 25). */
async function* untilBroken(frames: AsyncIterable<Frame>, isWhole: () => boolean): AsyncGenerator<Frame> {
  const iterator = frames[Symbol.asyncIterator]();
  try {
    for (;;) {
      let next: IteratorResult<Frame>;
      try {
        next = await iterator.next();
      } catch (broken) {
        if (isWhole()) return;
        throw broken;
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** The events up to the first watched stop sequence; the upstream is left there. */
export async function* cutAt(
  sequences: readonly string[],
  events: AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent> {
  const watcher = new StopWatcher(sequences);
  for await (const event of events) {
    yield* watcher.watch(event);
    if (watcher.ended) return;
  }
}
