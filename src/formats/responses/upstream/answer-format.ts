/** Encodes the format of the answer (`text.format`). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { encodeAnswerFormat, type EncodedFormat } from "../../shared/openai-answer-format.ts";
import type { EncodeContext } from "./content.ts";

/** The members that chat-completions nests under `json_schema` stand beside `type`. */
export function encodeTextFormat(request: ChatRequest, context: EncodeContext): EncodedFormat {
  const { field, instruction } = encodeAnswerFormat(request, context);
  if (!field || !isObject(field.json_schema)) return { field, instruction };
  const flat: JsonObject = { type: "json_schema", ...field.json_schema };
  return { field: flat, instruction };
}
