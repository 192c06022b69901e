/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { StopWatcher } from "../../shared/stop-watcher.ts";
import { EventReader } from "./answer-reader.ts";
import { decodeException, malformed } from "./errors.ts";
import { createStopWatcher } from "./stop-sequences.ts";
import { partsOf } from "./whole-blocks.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return new StreamReader(context);
}

/** Reads a JSON answer like a stream. @throws GatewayError `upstream` if the body is an error, or no answer of this format */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const message = isObject(body.output) ? body.output.message : undefined;
  if (!isObject(message) || !Array.isArray(message.content)) {
    const said = body.message ?? body.Message;
    throw typeof said === "string"
      ? decodeException({ type: body.__type, message: said })
      : malformed("the answer has no message");
  }
  const reader = new EventReader(context);
  const events = message.content
    .filter(isObject)
    .flatMap((block, index) => partsOf(block, index))
    .flatMap(([event, data]) => reader.read(event, data));
  events.push(...reader.read("messageStop", body), ...reader.read("metadata", body), ...reader.end());
  return createStopWatcher(context)?.watch(events) ?? events;
}

class StreamReader implements AnswerReader {
  readonly #events: EventReader;
  readonly #stops: StopWatcher | undefined;

  constructor(context: CodecContext) {
    this.#events = new EventReader(context);
    this.#stops = createStopWatcher(context);
  }

  push(frame: Frame): ChatEvent[] {
    const data = parseJson(frame.data);
    if (frame.event === "exception" || frame.event === "error") throw decodeException(data);
    if (!isObject(data)) throw malformed("a frame is not JSON");
    const events = this.#events.read(frame.event, data);
    return this.#stops?.watch(events) ?? events;
  }

  end(): ChatEvent[] {
    const events = this.#events.end();
    return this.#stops?.watch(events) ?? events;
  }
}
