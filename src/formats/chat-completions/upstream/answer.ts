/** A JSON answer → canonical events (contract E.4). */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { readFinishReason } from "../finish-reason.ts";
import { AnswerReader } from "./answer-reader.ts";
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
  const events = [...reader.read({ ...body, choices: body.choices.map(wholeChoice) }), ...reader.end()];
  const stops = watchedStops(call, call.request);
  if (stops.length === 0) return yield* events;
  const watcher = new StopWatcher(stops);
  for (const event of events) {
    yield* watcher.watch(event);
    if (watcher.ended) return;
  }
}

/** A choice whose calls are each by themselves and fit to be read. Perplexity puts an empty `delta` beside the message. */
function wholeChoice(given: Json): Json {
  if (!isObject(given) || !isObject(given.message)) return given;
  const choice = { ...given, message: given.message, delta: undefined };
  if (!Array.isArray(choice.message.tool_calls)) return choice;
  const cut = readFinishReason(choice) === "length";
  const calls = choice.message.tool_calls.filter(isObject).flatMap((call) => wholeCall(call, cut));
  return {
    ...choice,
    message: { ...choice.message, tool_calls: calls.map((call, index) => ({ ...call, index })) },
  };
}

/** A call whose arguments were cut off with the answer is left out: nobody may execute it (pitfall 29). */
function wholeCall(call: JsonObject, cut: boolean): JsonObject[] {
  const { function: body } = call;
  if (!isObject(body) || typeof body.arguments !== "string" || body.arguments.trim() === "") return [call];
  const value = parseJson(body.arguments);
  if (isObject(value)) return [call];
  if (value === undefined && cut) return [];
  const usable = value === undefined ? repaired(body.arguments) : { value };
  return [{ ...call, function: { ...body, arguments: JSON.stringify(usable) } }];
}

/** One attempt: close what is open. What still is no object is passed on as a text under a name that says so. */
function repaired(text: string): JsonObject {
  const value = parseJson(closeJson(text));
  return isObject(value) ? value : { __invalid_json: text };
}

function closeJson(text: string): string {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (inString && character === "\\") at++;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === "{" || character === "[") open.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") open.pop();
  }
  return text + (inString ? '"' : "") + open.reverse().join("");
}
