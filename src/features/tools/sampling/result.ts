/** The answer of a model as the result of `sampling/createMessage`. */
import type { AskAnswer } from "../../../core/ask.ts";
import type { FinishKind } from "../../../core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";

const REASONS: Readonly<Record<FinishKind, string>> = {
  stop: "endTurn",
  "stop-sequence": "stopSequence",
  length: "maxTokens",
  "tool-calls": "toolUse",
  "content-filter": "contentFilter",
  pause: "pause",
};

/** @param hasTools whether the server offers tools: without them content is one block, as before revision 2025-11-25 */
export function resultOf(answer: AskAnswer, hasTools: boolean): JsonObject {
  const { model, finish, text, images, toolCalls } = answer;
  const said: JsonObject[] = [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...images.map(({ mediaType, data }) => ({ type: "image", mimeType: mediaType, data })),
    ...toolCalls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: objectIn(input) })),
  ];
  const [first = { type: "text", text: "" }] = said;
  const content = hasTools && said.length > 0 ? said : first;
  return { role: "assistant", content, model, stopReason: REASONS[finish.kind] };
}

function objectIn(input: string): JsonObject {
  const read = parseJson(input);
  return isObject(read) ? read : {};
}
