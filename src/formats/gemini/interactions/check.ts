/** Checks the requests of interactions, and finds the members that a translation leaves out. */
import { invalidRequest } from "../../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { checkShape, missing, type RequestShape } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { InteractionRequest } from "./schema.ts";
import { interactionValidatorCode } from "./schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(InteractionRequest);

const SHAPE: RequestShape = {
  schema: InteractionRequest,
  vocabulary: REQUEST,
  isValid: new Function(interactionValidatorCode())(),
  called: "an interaction",
};

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function checkRequest(body: Json): asserts body is JsonObject {
  if (isObject(body) && body.agent != null && body.model == null)
    throw invalidRequest(
      "weir serves interactions with a model, and none with an agent, whose cost has no bound: name a `model`, and give it tools.",
      "agent",
      "unsupported_parameter",
    );
  checkShape(body, SHAPE);
  const { input } = body;
  if (input === "" || (Array.isArray(input) && input.length === 0)) throw missing("input");
}
