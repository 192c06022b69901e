/** Errors in the answers of a Messages provider. */
import type { GatewayError } from "../../../core/error.ts";
import type { HeaderReader } from "../../../core/headers.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeAwsError, decodeAwsException, isAwsError, isAwsException } from "../../shared/aws-error.ts";
import { decodeError as decodeVendorError, decodeErrorBody } from "../../shared/upstream-error.ts";

/** Decodes an answer with a failed status; Bedrock answers in the shape of AWS. */
export function decodeError(status: number, headers: HeaderReader, body: string): GatewayError {
  return (isAwsError(headers) ? decodeAwsError : decodeVendorError)(status, headers, body);
}

/** Decodes an error inside a stream: an `error` event, or an exception of AWS in its place. */
export function decodeStreamError(data: Json | undefined): GatewayError {
  const error = isObject(data) ? data.error : undefined;
  return isAwsException(error) ? decodeAwsException(error) : decodeErrorBody(data);
}

/** Whether a body has the shape of Anthropic's errors. Clients read `error.type` and match its messages. */
export function isErrorBody({ type, error }: JsonObject): boolean {
  return (
    type === "error" && isObject(error) && typeof error.type === "string" && typeof error.message === "string"
  );
}
