/** Messages answers, whole or streamed → canonical events. */
import type { Call } from "../../../core/call.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { AnswerReader } from "./answer-reader.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { malformed } from "./errors.ts";
import { isErrorFrame } from "./watch.ts";

/** @throws GatewayError `upstream` when the body is an error, or not a message. */
export function* decodeAnswer(body: JsonObject, call: Call): Generator<ChatEvent> {
  if (body.type === "error" || isObject(body.error)) throw decodeErrorBody(body);
  const { content, ...message } = body;
  if (!Array.isArray(content)) throw malformed("the answer has no content");
  const reader = new AnswerReader(call);
  yield* reader.read({ type: "message_start", message: { ...message, content: [] } });
  for (const [index, block] of content.entries()) {
    yield* reader.read({ type: "content_block_start", index, content_block: block });
    yield* reader.read({ type: "content_block_stop", index });
  }
  yield* reader.read({ type: "message_delta", delta: message, usage: message.usage });
  yield* reader.read({ type: "message_stop" });
}

/**
 * @throws GatewayError on an error frame, on a frame that is no JSON or stands where it cannot, and when the stream ends
 * before the answer does.
 */
export async function* decodeStream(frames: AsyncIterable<Frame>, call: Call): AsyncGenerator<ChatEvent> {
  const reader = new AnswerReader(call);
  const source = frames[Symbol.asyncIterator]();
  try {
    while (!reader.ended) {
      const frame = await nextFrame(source, reader);
      if (!frame) break;
      // Not `yield*`: over a list that costs two more promises for each event.
      for (const event of readFrame(frame, reader)) yield event;
    }
    if (!reader.ended) for (const event of reader.finish()) yield event;
  } finally {
    await source.return?.();
  }
}

/** A connection that breaks behind the stop reason has delivered the whole answer. */
async function nextFrame(source: AsyncIterator<Frame>, reader: AnswerReader): Promise<Frame | undefined> {
  try {
    const { done, value } = await source.next();
    return done ? undefined : value;
  } catch (thrown) {
    if (reader.isComplete) return undefined;
    throw thrown;
  }
}

function readFrame(frame: Frame, reader: AnswerReader): readonly ChatEvent[] {
  if (frame.event === "ping" || frame.data === "" || frame.data === "[DONE]") return [];
  const data = parseJson(frame.data);
  if (isErrorFrame(frame, data)) throw decodeErrorBody(data ?? frame.data);
  if (!isObject(data)) throw malformed("a frame is not JSON");
  return reader.read(data);
}
