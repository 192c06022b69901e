/**
 * Validates a parsed request. A compiled validator decides whether it is valid; only an invalid request is walked along
 * the schema, to name the first fault in the wording of OpenAI.
 */
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { firstFault, missing, misspelled } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { ChatCompletionsRequest, INSTEAD_OF_CONTENT } from "../schema.ts";
import { requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(ChatCompletionsRequest);

const isValid = new Function(requestValidatorCode())() as (body: Json) => boolean;

/** @throws GatewayError `invalid-request` with the path of the first fault. */
export function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const misspelling = REQUEST.findMisspelled(body);
  if (misspelling) throw misspelled(misspelling);
  if (!isValid(body))
    throw (
      firstFault(ChatCompletionsRequest, body, "") ??
      invalidRequest("The request body is not a chat-completions request.")
    );
  const empty = (body.messages as JsonObject[]).findIndex(hasNoContent);
  if (empty >= 0) throw missing(`messages[${empty}].content`);
}

function hasNoContent(message: JsonObject): boolean {
  if (message.role !== "assistant" || message.content != null) return false;
  return INSTEAD_OF_CONTENT.every((name) => message[name] == null);
}
