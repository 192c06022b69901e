/** Decodes answers, whole or streamed, into canonical events. */
import type { Call } from "../../../core/call.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { AnswerReader } from "./answer-reader.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { malformed } from "./errors.ts";
import { isErrorFrame } from "./watch.ts";

/** Decodes a JSON answer. @throws GatewayError `upstream` if the body is an error, or not a message */
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
 * Decodes a stream.
 * @throws GatewayError on an error frame, on a frame that is not JSON or not allowed at its position, and on an early end
 */
export async function* decodeStream(frames: AsyncIterable<Frame>, call: Call): AsyncGenerator<ChatEvent> {
  const reader = new AnswerReader(call);
  const source = frames[Symbol.asyncIterator]();
  try {
    while (!reader.ended) {
      const frame = await nextFrame(source, reader);
      if (!frame) break;
      // Not `yield*`, which costs two more promises for each event of a list.
      for (const event of readFrame(frame, reader)) yield event;
    }
    if (!reader.ended) for (const event of reader.finish()) yield event;
  } finally {
    await source.return?.();
  }
}

/** Reads the next frame. A broken connection after a complete answer counts as the end of the stream. */
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
