/** Errors of Bedrock: failed statuses, and exceptions inside a stream. */

export {
  decodeAwsError as decodeError,
  decodeAwsException as decodeException,
} from "../../shared/aws-error.ts";
export { malformed } from "../../shared/malformed.ts";
