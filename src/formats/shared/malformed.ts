/** The error for an answer that is not of the provider's format. */
import { GatewayError } from "../../core/error.ts";

/** @param what the unreadable part, for the log only */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that weir cannot read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}
