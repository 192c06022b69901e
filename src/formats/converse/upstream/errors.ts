/** Errors of Bedrock: failed statuses, and exceptions inside a stream. */
import { GatewayError } from "../../../core/error.ts";

export {
  decodeAwsError as decodeError,
  decodeAwsException as decodeException,
} from "../../shared/aws-error.ts";

/** @param what the unreadable part, for the log only */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that weir cannot read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}
