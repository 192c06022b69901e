/** Encodes errors: `{"error": "…"}`. */
import type { GatewayError } from "../../../core/error.ts";
import type { ErrorAnswer, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { retryHeaders } from "../../shared/error-envelope.ts";

/** Encodes an error before the first byte. */
export function encodeError(error: GatewayError): ErrorAnswer {
  return {
    status: error.status,
    headers: { ...retryHeaders(error), ...error.headers },
    body: encodeBody(error),
  };
}

/** Encodes an error after the first byte: a record that is not `done`. */
export function encodeStreamError(error: GatewayError): Frame[] {
  return [{ data: JSON.stringify(encodeBody(error)) }];
}

function encodeBody({ message }: GatewayError): JsonObject {
  return { error: message };
}
