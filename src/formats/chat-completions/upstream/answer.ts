/** A JSON answer → canonical events. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { readFinishReason } from "../finish-reason.ts";
import { AnswerReader } from "./answer-reader.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { errorIn } from "./errors.ts";
import { StopWatcher, watchedStops } from "./stop.ts";

/** @throws GatewayError when the body is an error, or not an answer of this format. */
export function* decodeAnswer(body: JsonObject, call: Call): Generator<ChatEvent> {
  const error = errorIn({ data: "" }, body);
  if (error !== undefined) throw decodeErrorBody(error);
  if (!Array.isArray(body.choices) || !body.choices.some(isObject))
    throw new GatewayError("upstream", "The provider's answer has no choices in it.", {
      code: "upstream_invalid_answer",
    });
  const reader = new AnswerReader(call);
  const events = [
    ...reader.read({
      ...body,
      choices: body.choices.map((choice, index) => wholeChoice(choice, index, call)),
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

/** A choice whose calls are each by themselves and fit to be read. Perplexity puts an empty `delta` beside the message. */
function wholeChoice(given: Json, index: number, call: Call): Json {
  if (!isObject(given) || !isObject(given.message)) return given;
  const choice = { ...given, message: given.message, delta: undefined };
  if (!Array.isArray(choice.message.tool_calls)) return choice;
  const cut = readFinishReason(choice) === "length";
  const calls = choice.message.tool_calls.filter(isObject).flatMap((item, place) =>
    wholeCall(item, cut, (repair) => {
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

/** A call whose arguments were cut off with the answer is left out: nobody may execute it. */
function wholeCall(call: JsonObject, cut: boolean, report: (repair: string) => void): JsonObject[] {
  const { function: body } = call;
  if (!isObject(body) || typeof body.arguments !== "string") return [call];
  const { value, repair, broken } = readToolInput(body.arguments);
  if (broken && cut) return [];
  if (repair === undefined) return [call];
  report(repair);
  return [{ ...call, function: { ...body, arguments: JSON.stringify(value) } }];
}
