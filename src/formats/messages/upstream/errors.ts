/** Answers of a Messages upstream that cannot be read. */
import { GatewayError } from "../../../core/error.ts";

/** @param what cannot be read; only the log is told */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that cannot be read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}
