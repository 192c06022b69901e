/** Encodes errors for clients of completions. */
import type { GatewayError } from "../../../core/error.ts";
import type { Frame } from "../../../core/format.ts";
import { encodeBody } from "../../../formats/shared/error-envelope.ts";

export { encodeError } from "../../../formats/shared/error-envelope.ts";

/** Encodes an error after the first byte; no `[DONE]` follows. */
export function encodeStreamError(error: GatewayError): Frame[] {
  return [{ data: JSON.stringify(encodeBody(error)) }];
}
