/** Validates a parsed request. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { checkShape, missing, type RequestShape } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { ChatCompletionsRequest, INSTEAD_OF_CONTENT } from "../schema.ts";
import { requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(ChatCompletionsRequest);

const SHAPE: RequestShape = {
  schema: ChatCompletionsRequest,
  vocabulary: REQUEST,
  isValid: new Function(requestValidatorCode())(),
  called: "a chat-completions request",
};

/** @throws GatewayError `invalid-request` with the path of the first fault. */
export function checkRequest(body: Json): asserts body is JsonObject {
  checkShape(body, SHAPE);
  const empty = (body.messages as JsonObject[]).findIndex(hasNoContent);
  if (empty >= 0) throw missing(`messages[${empty}].content`);
}

function hasNoContent(message: JsonObject): boolean {
  if (message.role !== "assistant" || message.content != null) return false;
  return INSTEAD_OF_CONTENT.every((name) => message[name] == null);
}
