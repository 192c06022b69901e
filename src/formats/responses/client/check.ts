/** Validates a parsed request. */
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { checkShape, missing, type RequestShape } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { INSTEAD_OF_INPUT, ResponsesRequest } from "../schema.ts";
import { requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(ResponsesRequest);

const SHAPE: RequestShape = {
  schema: ResponsesRequest,
  vocabulary: REQUEST,
  isValid: new Function(requestValidatorCode())(),
  called: "a Responses request",
};

/** @throws GatewayError `invalid-request` with the path of the first fault. */
export function checkRequest(body: Json): asserts body is JsonObject {
  checkShape(body, SHAPE);
  if (body.generate === false) throw noPrewarm();
  if (isEmpty(body.input) && INSTEAD_OF_INPUT.every((name) => body[name] == null)) throw missing("input");
}

/** Over a WebSocket such a request only prepares a later one. */
function noPrewarm() {
  return invalidRequest(
    "generate: weir answers every request; leave the member out.",
    "generate",
    "unsupported_parameter",
  );
}

function isEmpty(input: Json | undefined): boolean {
  return input == null || (Array.isArray(input) && input.length === 0);
}
