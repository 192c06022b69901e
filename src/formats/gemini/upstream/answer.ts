/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import {
  splitStop,
  type StopPlan,
  type StopWatcher,
  stopWatcherFor,
  watchedReader,
} from "../../shared/stop-watcher.ts";
import { RecordReader } from "./answer-reader.ts";
import { malformed } from "../../shared/read.ts";
import type { Traits } from "../../../core/provider.ts";

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

/** Most stop sequences that Google takes. weir ends the answer itself where the model would have stopped for another one. */
const MAX_STOP = 5;

export function planStop(stop: readonly string[], { maxStop = MAX_STOP }: Traits): StopPlan {
  return splitStop(stop, maxStop);
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher(context: CodecContext): StopWatcher | undefined {
  return stopWatcherFor(context, (stop) => planStop(stop, context.target.traits));
}
