/** Errors of streamed bodies that cannot be cut into frames. */
import { GatewayError } from "../../core/error.ts";

/** Maximum length of a frame. Without it an endless frame would exhaust the memory. Bytes. */
export const MAX_FRAME = 32 * 1024 * 1024;

export function frameTooLong(): GatewayError {
  return new GatewayError("upstream", "The provider's stream holds a frame that does not end.", {
    code: "upstream_too_large",
  });
}

/** @param what the fault, as the end of the sentence */
export function invalidFrame(what: string): GatewayError {
  return new GatewayError("upstream", `The provider's stream cannot be read: ${what}.`, {
    code: "upstream_invalid_answer",
  });
}
