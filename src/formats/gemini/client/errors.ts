/** Encodes errors in the envelope of Google's APIs: `{"error": {code, message, status, details}}`. */
import type { ErrorKind, GatewayError } from "../../../core/error.ts";
import type { ErrorAnswer, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { TooLongWords } from "../../shared/too-long.ts";
import { wordTooLong } from "../../shared/too-long.ts";

/** The words of `google.rpc.Code`. */
const STATUS_WORDS: Record<ErrorKind, string> = {
  "invalid-request": "INVALID_ARGUMENT",
  authentication: "UNAUTHENTICATED",
  permission: "PERMISSION_DENIED",
  "not-found": "NOT_FOUND",
  "method-not-allowed": "UNIMPLEMENTED",
  conflict: "ABORTED",
  "too-large": "INVALID_ARGUMENT",
  "unsupported-media-type": "INVALID_ARGUMENT",
  "rate-limited": "RESOURCE_EXHAUSTED",
  quota: "RESOURCE_EXHAUSTED",
  overloaded: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
  upstream: "INTERNAL",
  "upstream-auth": "INTERNAL",
  cancelled: "CANCELLED",
  internal: "INTERNAL",
};

/** Maximum time to wait, in seconds. */
const MAX_RETRY_AFTER = 60;

/** Encodes an error before the first byte. */
export function encodeError(error: GatewayError): ErrorAnswer {
  const wait = waitOf(error);
  return {
    status: error.status,
    headers: {
      ...(error.status === 401 && { "www-authenticate": "Bearer" }),
      ...(wait !== undefined && { "retry-after": String(wait) }),
      ...(error.shouldRetry !== undefined && { "x-should-retry": String(error.shouldRetry) }),
      ...error.headers,
    },
    body: encodeBody(error),
  };
}

/** Encodes an error after the first byte: a record without candidates. */
export function encodeStreamError(error: GatewayError): Frame[] {
  return [{ data: JSON.stringify(encodeBody(error)) }];
}

function encodeBody(error: GatewayError): JsonObject {
  const { status, kind } = error;
  const details = detailsOf(error);
  return {
    error: {
      code: status,
      message: messageOf(error),
      status: STATUS_WORDS[kind],
      ...(details.length > 0 && { details }),
    },
  };
}

const TYPE = "type.googleapis.com/google.rpc.";

/** The details that Google documents (https://cloud.google.com/apis/design/errors#error_details). */
function detailsOf(error: GatewayError): JsonObject[] {
  const { code, param, message } = error;
  const wait = waitOf(error);
  return [
    ...(code === undefined ? [] : [{ "@type": `${TYPE}ErrorInfo`, reason: code, domain: "weir" }]),
    ...(param === undefined
      ? []
      : [{ "@type": `${TYPE}BadRequest`, fieldViolations: [{ field: param, description: message }] }]),
    ...(wait === undefined ? [] : [{ "@type": `${TYPE}RetryInfo`, retryDelay: `${wait}s` }]),
  ];
}

/** Whole seconds until a retry makes sense. */
function waitOf({ retryAfter }: GatewayError): number | undefined {
  return retryAfter === undefined ? undefined : Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil(retryAfter)));
}

const TOO_LONG: TooLongWords = {
  known: /input token count[^.]*exceeds the maximum number of tokens allowed/i,
  withFigures: ({ sent, allowed }) =>
    `The input token count (${sent}) exceeds the maximum number of tokens allowed (${allowed}).`,
  withoutFigures: (message) =>
    `The input token count exceeds the maximum number of tokens allowed: ${message}`,
};

function messageOf({ code, message }: GatewayError): string {
  return code === "context_length_exceeded" ? wordTooLong(message, TOO_LONG) : message;
}
