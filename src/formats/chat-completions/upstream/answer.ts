/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { readFinishReason } from "../finish.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { watchedReader } from "../../shared/stop-watcher.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { ChunkReader } from "./answer-reader.ts";
import { errorIn } from "./errors.ts";
import { createStopWatcher } from "./stop-sequences.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return watchedReader(new StreamReader(context), createStopWatcher(context));
}

/** Reads a JSON answer like one chunk. @throws GatewayError if the body is an error, or not an answer of this format */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const error = errorIn({ data: "" }, body);
  if (error !== undefined) throw decodeErrorBody(error);
  if (!Array.isArray(body.choices) || !body.choices.some(isObject))
    throw new GatewayError("upstream", "The provider's answer has no choices.", {
      code: "upstream_invalid_answer",
    });
  const choices = body.choices.map((choice, index) => repairChoice(choice, index, context));
  const reader = new ChunkReader(context);
  const events = [...reader.read({ ...body, choices }), ...reader.end()];
  return createStopWatcher(context)?.watch(events) ?? events;
}

class StreamReader implements AnswerReader {
  readonly #chunks: ChunkReader;
  /** Some servers send neither a finish reason nor `[DONE]`. */
  readonly #endsAnywhere: boolean;

  constructor(context: CodecContext) {
    this.#chunks = new ChunkReader(context);
    this.#endsAnywhere = context.target.traits.eofIsStop === true;
  }

  push(frame: Frame): ChatEvent[] {
    const data = frame.data.trim();
    if (data === "") return [];
    // `[DONE]` without content is no answer: llama-cpp-python ends a stream like that when another request arrives.
    if (data === "[DONE]") return this.#end(!this.#chunks.isEmpty);
    const chunk = chunkOf(frame, data);
    return chunk ? this.#chunks.read(chunk) : [];
  }

  end(): ChatEvent[] {
    return this.#end(false);
  }

  #end(isComplete: boolean): ChatEvent[] {
    if (!isComplete && !this.#chunks.finished && !this.#endsAnywhere) throw incompleteStream();
    return this.#chunks.end();
  }
}

/** Numbers the calls of a choice and repairs their arguments. Perplexity puts an empty `delta` beside the message. */
function repairChoice(given: Json, index: number, context: CodecContext): Json {
  if (!isObject(given) || !isObject(given.message)) return given;
  const choice = { ...given, message: given.message, delta: undefined };
  if (!Array.isArray(choice.message.tool_calls)) return choice;
  const cut = readFinishReason(choice) === "length";
  const calls = choice.message.tool_calls.filter(isObject).flatMap((item, place) =>
    repairCall(item, cut, (repair) => {
      context.reportLoss(
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
