/** Validates parsed requests. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { checkShape, type RequestShape } from "../../../formats/shared/request-fault.ts";
import { Vocabulary } from "../../../formats/shared/vocabulary.ts";
import { CompletionsRequest, FimRequest } from "../schema.ts";
import { completionsValidatorCode, fimValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(CompletionsRequest);
export const FIM_REQUEST = new Vocabulary(FimRequest);

const SHAPE: RequestShape = {
  schema: CompletionsRequest,
  vocabulary: REQUEST,
  isValid: new Function(completionsValidatorCode())(),
  called: "a request for a text completion",
};

const FIM_SHAPE: RequestShape = {
  schema: FimRequest,
  vocabulary: FIM_REQUEST,
  isValid: new Function(fimValidatorCode())(),
  called: "a request for the middle of a text",
};

/** @throws GatewayError `invalid-request` with the path of the first fault. */
export function checkRequest(body: Json): asserts body is JsonObject {
  checkShape(body, SHAPE);
}

/** @throws as {@link checkRequest} */
export function checkFimRequest(body: Json): asserts body is JsonObject {
  checkShape(body, FIM_SHAPE);
}
