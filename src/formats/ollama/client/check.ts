/** Validates a parsed request. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { checkShape, type RequestShape } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { OllamaGenerateRequest, OllamaRequest } from "../schema.ts";
import { generateValidatorCode, requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(OllamaRequest);
export const GENERATE_REQUEST = new Vocabulary(OllamaGenerateRequest);

const called = "a request of Ollama's API";
const CHAT: RequestShape = {
  schema: OllamaRequest,
  vocabulary: REQUEST,
  isValid: new Function(requestValidatorCode())(),
  called,
};
const GENERATE: RequestShape = {
  schema: OllamaGenerateRequest,
  vocabulary: GENERATE_REQUEST,
  isValid: new Function(generateValidatorCode())(),
  called,
};

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function checkRequest(body: Json): asserts body is JsonObject {
  checkShape(body, CHAT);
}

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function checkGenerateRequest(body: Json): asserts body is JsonObject {
  checkShape(body, GENERATE);
}
