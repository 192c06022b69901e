/** Validates a parsed request, and finds the members that a translation leaves out; paths are in the spelling of the client. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { LeftOut } from "../../../core/loss.ts";
import { firstFault, misspelled } from "../../shared/request-fault.ts";
import { GeminiRequest } from "../schema.ts";
import { requestValidatorCode } from "../schema.ts" with { type: "macro" };
import { camelCased, REQUEST, spelledIn } from "./spelling.ts";

const isValid = new Function(requestValidatorCode())() as (body: Json) => boolean;

/** Only an invalid request is walked along the schema. @throws GatewayError `invalid-request` with the path of the first fault */
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

/** Yields the members that a translation leaves out. */
export function* leftOut(given: JsonObject, sameFormat: boolean): Generator<LeftOut> {
  for (const { loss, path } of REQUEST.leftOut(camelCased(given), sameFormat))
    yield { loss, path: spelledIn(given, path) };
}
