/** Decodes answers, whole or streamed, into canonical events. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { readFinishReason } from "../finish.ts";
import { AnswerReader } from "./answer-reader.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { errorIn } from "./errors.ts";
import { StopWatcher, watchedStops } from "./stop-sequences.ts";

/** Decodes a JSON answer. @throws GatewayError if the body is an error, or not an answer of this format */
export function* decodeAnswer(body: JsonObject, call: Call): Generator<ChatEvent> {
  const error = errorIn({ data: "" }, body);
  if (error !== undefined) throw decodeErrorBody(error);
  if (!Array.isArray(body.choices) || !body.choices.some(isObject))
    throw new GatewayError("upstream", "The provider's answer has no choices.", {
      code: "upstream_invalid_answer",
    });
  const reader = new AnswerReader(call);
  const events = [
    ...reader.read({
      ...body,
      choices: body.choices.map((choice, index) => repairChoice(choice, index, call)),
    }),
    ...reader.end(),
  ];
  const stops = watchedStops(call, call.request);
  if (stops.length === 0) return yield* events;
  const watcher = new StopWatcher(stops);
  for (const event of events) {
    yield* watcher.watch(event);
    if (watcher.ended) return;
  }
}

/** Numbers the calls of a choice and repairs their arguments. Perplexity puts an empty `delta` beside the message. */
function repairChoice(given: Json, index: number, call: Call): Json {
  if (!isObject(given) || !isObject(given.message)) return given;
  const choice = { ...given, message: given.message, delta: undefined };
  if (!Array.isArray(choice.message.tool_calls)) return choice;
  const cut = readFinishReason(choice) === "length";
  const calls = choice.message.tool_calls.filter(isObject).flatMap((item, place) =>
    repairCall(item, cut, (repair) => {
      call.reportLoss(
        "repaired",
        `choices[${index}].message.tool_calls[${place}].function.arguments`,
        repair,
      );
    }),
  );
  return {
    ...choice,
    message: { ...choice.message, tool_calls: calls.map((item, place) => ({ ...item, index: place })) },
  };
}

/** Repairs a call; drops one whose arguments were cut off with the answer, because the client must not run it. */
function repairCall(call: JsonObject, cut: boolean, report: (repair: string) => void): JsonObject[] {
  const { function: body } = call;
  if (!isObject(body) || typeof body.arguments !== "string") return [call];
  const { value, repair, broken } = readToolInput(body.arguments);
  if (broken && cut) return [];
  if (repair === undefined) return [call];
  report(repair);
  return [{ ...call, function: { ...body, arguments: JSON.stringify(value) } }];
}

/** Decodes a stream. @throws GatewayError on an error frame, on a frame that is not JSON, and on an early end */
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
      // Not `yield*`, which costs two more promises for each event of a list.
      if (chunk) for (const event of reader.read(chunk)) yield event;
    }
  } finally {
    await source.return?.();
  }
  if (!isEnded(reader, done, call)) throw truncated();
  for (const event of reader.end()) yield event;
}

/**
 * Whether the answer was complete when the stream ended. Some servers never send a finish reason, others omit `[DONE]`.
 * `[DONE]` without content is not an answer: llama-cpp-python ends a stream like that when another request arrives.
 */
function isEnded(reader: AnswerReader, done: boolean, { target }: Call): boolean {
  return reader.finished || (done && !reader.isEmpty) || target?.provider.traits?.eofIsStop === true;
}

/** Returns the chunk in a frame; `undefined` for named events without JSON. */
function chunkOf(frame: Frame, data: string): JsonObject | undefined {
  const chunk = parseJson(data);
  const error = errorIn(frame, chunk);
  if (error !== undefined) throw decodeErrorBody(error);
  if (isObject(chunk)) return chunk;
  if (frame.event !== undefined && chunk === undefined) return undefined;
  throw new GatewayError("upstream", "The provider sent a stream event that is not a JSON object.", {
    code: "upstream_invalid_answer",
  });
}

function truncated(): GatewayError {
  return new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
    code: "stream_incomplete",
  });
}

/** Reads the next frame. A broken connection after a complete answer counts as the end of the stream. */
async function nextFrame(
  source: AsyncIterator<Frame>,
  isComplete: () => boolean,
): Promise<Frame | undefined> {
  try {
    const { done, value } = await source.next();
    return done ? undefined : value;
  } catch (broken) {
    if (isComplete()) return undefined;
    throw broken;
  }
}

/** Passes events up to the first stop sequence; returning closes the connection to the provider. */
async function* cutAt(
  sequences: readonly string[],
  events: AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent> {
  const watcher = new StopWatcher(sequences);
  for await (const event of events) {
    for (const passed of watcher.watch(event)) yield passed;
    if (watcher.ended) return;
  }
}
