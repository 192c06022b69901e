/** Validates a parsed request. Only an invalid one is walked along the schema, to name the first fault. */
import type { TSchema } from "@sinclair/typebox";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { firstFault, misspelled } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { OllamaGenerateRequest, OllamaRequest } from "../schema.ts";
import { generateValidatorCode, requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(OllamaRequest);
export const GENERATE_REQUEST = new Vocabulary(OllamaGenerateRequest);

type Validator = (body: Json) => boolean;

const isValid = new Function(requestValidatorCode())() as Validator;
const isValidGenerate = new Function(generateValidatorCode())() as Validator;

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function checkRequest(body: Json): asserts body is JsonObject {
  check(body, isValid, OllamaRequest, REQUEST);
}

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function checkGenerateRequest(body: Json): asserts body is JsonObject {
  check(body, isValidGenerate, OllamaGenerateRequest, GENERATE_REQUEST);
}

function check(body: Json, isValid: Validator, schema: TSchema, vocabulary: Vocabulary): void {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const misspelling = vocabulary.findMisspelled(body);
  if (misspelling) throw misspelled(misspelling);
  if (isValid(body)) return;
  throw firstFault(schema, body, "") ?? invalidRequest("The request body is not a request of Ollama's API.");
}
