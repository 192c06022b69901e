/** Validates a parsed request. Only an invalid one is walked along the schema, to name the first fault. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { firstFault, misspelled } from "../../shared/schema-fault.ts";
import { GeminiRequest } from "../schema.ts";
import { camelCased, spelledIn } from "./spelling.ts";
import { requestValidatorCode } from "./validator-code.ts" with { type: "macro" };
import { REQUEST } from "./vocabulary.ts";

const isValid = new Function(requestValidatorCode())() as (body: Json) => boolean;

/** @throws GatewayError `invalid-request` with the path of the first fault, as the client spelled it */
export function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const named = camelCased(body);
  const misspelling = REQUEST.findMisspelled(named);
  if (misspelling) throw misspelled(misspelling);
  if (isValid(named)) return;
  const fault = firstFault(GeminiRequest, named, "");
  if (!fault) throw invalidRequest("The request body is not a request of the Gemini API.");
  const { param = "" } = fault;
  const path = spelledIn(body, param);
  const { kind, message, code } = fault;
  throw path === param
    ? fault
    : new GatewayError(kind, message.replace(`'${param}'`, `'${path}'`), { code, param: path });
}
