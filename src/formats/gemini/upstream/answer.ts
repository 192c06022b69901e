/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { watchedReader } from "../../shared/stop-watcher.ts";
import { RecordReader } from "./answer-reader.ts";
import { createStopWatcher } from "./stop-sequences.ts";
import { malformed } from "../../shared/read.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return watchedReader(new StreamReader(context), createStopWatcher(context));
}

/** Reads a JSON answer like the only record of a stream. @throws GatewayError if the body is an error, or not an answer */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const reader = new RecordReader(context);
  const events = [...reader.read(body), ...reader.end(true)];
  return createStopWatcher(context)?.watch(events) ?? events;
}

/** The format has no terminator: the end of the body ends the answer. */
class StreamReader implements AnswerReader {
  readonly #records: RecordReader;

  constructor(context: CodecContext) {
    this.#records = new RecordReader(context);
  }

  push(frame: Frame): ChatEvent[] {
    if (frame.data === "") return [];
    const record = parseJson(frame.data);
    if (!isObject(record)) throw malformed("a record that is not a JSON object");
    return this.#records.read(record);
  }

  end(): ChatEvent[] {
    return this.#records.end(false);
  }
}
