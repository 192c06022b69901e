/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { splitStop, type StopWatcher, stopWatcherFor, watchedReader } from "../../shared/stop-watcher.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { EventReader } from "./answer-reader.ts";
import { errorIn, errorInAnswer } from "./errors.ts";
import { malformed } from "../../shared/read.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return watchedReader(new StreamReader(context), createStopWatcher(context));
}

/** Reads a JSON answer like a stream. @throws GatewayError `upstream` if the body is an error, or no complete answer */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const error = errorInAnswer(body);
  if (error) throw error;
  if (!Array.isArray(body.output)) throw malformed("the answer has no output");
  if (UNFINISHED.has(body.status)) throw malformed(`the answer has the status ${String(body.status)}`);
  const isIncomplete = body.status === "incomplete";
  const output = body.output.flatMap((item, index) => repairCall(item, index, isIncomplete, context));
  const response = { ...body, output };
  const reader = new EventReader(context);
  const events = [
    { type: "response.created", response },
    ...output.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
    { type: isIncomplete ? "response.incomplete" : "response.completed", response },
  ].flatMap((event: JsonObject) => reader.read(event));
  return createStopWatcher(context)?.watch(events) ?? events;
}

/** The provider answers later. weir asks for that only in the native lane. */
const UNFINISHED: ReadonlySet<Json | undefined> = new Set(["queued", "in_progress"]);

class StreamReader implements AnswerReader {
  readonly #events: EventReader;

  constructor(context: CodecContext) {
    this.#events = new EventReader(context);
  }

  /** The type in the data counts: some hosts send no `event:` line. */
  push(frame: Frame): ChatEvent[] {
    const text = frame.data.trim();
    if (text === "" || text === "[DONE]") return [];
    const data = parseJson(text);
    const error = errorIn(frame, data);
    if (error !== undefined) throw decodeErrorBody(error);
    if (!isObject(data)) throw malformed("a frame is not a JSON object");
    return this.#events.read(data);
  }

  end(): ChatEvent[] {
    return this.#events.end();
  }
}

/** The format has no stop sequences: weir watches for all of them. */
function createStopWatcher(context: CodecContext): StopWatcher | undefined {
  return stopWatcherFor(context, (stop) => splitStop(stop, 0));
}

/** Repairs the arguments of a call; drops a call whose arguments were cut off, because the client must not run it. */
function repairCall(item: Json, index: number, isCut: boolean, context: CodecContext): Json[] {
  if (!isObject(item) || item.type !== "function_call" || typeof item.arguments !== "string") return [item];
  const { value, repair, broken } = readToolInput(item.arguments);
  if (broken && isCut) return [];
  if (repair === undefined) return [item];
  context.reportLoss("repaired", `output[${index}].arguments`, repair);
  return [{ ...item, arguments: JSON.stringify(value) }];
}
