/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { EventReader } from "./answer-reader.ts";
import { decodeStreamError } from "./errors.ts";
import { isErrorFrame } from "./watch.ts";
import { malformed } from "../../shared/read.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return new StreamReader(context);
}

/** Reads a JSON answer like a stream. @throws GatewayError `upstream` if the body is an error, or not a message */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  if (body.type === "error" || isObject(body.error)) throw decodeErrorBody(body);
  const { content } = body;
  if (!Array.isArray(content)) throw malformed("the answer has no content");
  const reader = new EventReader(context);
  const events: ChatEvent[] = [];
  const read = (event: JsonObject) => void events.push(...reader.read(event));
  read({ type: "message_start", message: body });
  content.forEach((block, index) => {
    read({ type: "content_block_start", index, content_block: block });
    read({ type: "content_block_stop", index });
  });
  read({ type: "message_delta", delta: body, usage: body.usage });
  read({ type: "message_stop" });
  return events;
}

class StreamReader implements AnswerReader {
  readonly #events: EventReader;

  constructor(context: CodecContext) {
    this.#events = new EventReader(context);
  }

  push(frame: Frame): ChatEvent[] {
    if (frame.event === "ping" || frame.data === "" || frame.data === "[DONE]") return [];
    const data = parseJson(frame.data);
    if (isErrorFrame(frame, data)) throw decodeStreamError(data ?? frame.data);
    if (!isObject(data)) throw malformed("a frame is not JSON");
    return this.#events.read(data);
  }

  end(): ChatEvent[] {
    return this.#events.end();
  }
}
