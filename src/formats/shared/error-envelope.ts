/** Encodes errors in the envelope of OpenAI: `{"error": {message, type, param, code}}`. */
import type { ErrorKind, GatewayError } from "../../core/error.ts";
import type { ErrorAnswer } from "../../core/format.ts";
import { BUDGET_EXHAUSTED } from "../../core/refusal.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TooLongWords } from "./too-long.ts";
import { wordTooLong } from "./too-long.ts";

/** Wire names of the error kinds. `code` is the default for errors without one. */
const WIRE: Record<ErrorKind, { type: string; code?: string }> = {
  "invalid-request": { type: "invalid_request_error" },
  authentication: { type: "invalid_request_error", code: "invalid_api_key" },
  permission: { type: "invalid_request_error" },
  "not-found": { type: "invalid_request_error" },
  "method-not-allowed": { type: "invalid_request_error" },
  conflict: { type: "invalid_request_error" },
  "too-large": { type: "invalid_request_error", code: "request_too_large" },
  "unsupported-media-type": { type: "invalid_request_error" },
  "rate-limited": { type: "rate_limit_error", code: "rate_limit_exceeded" },
  quota: { type: "insufficient_quota", code: "insufficient_quota" },
  overloaded: { type: "service_unavailable_error", code: "server_is_overloaded" },
  timeout: { type: "server_error", code: "timeout" },
  upstream: { type: "server_error" },
  "upstream-auth": { type: "server_error", code: "upstream_auth" },
  cancelled: { type: "invalid_request_error", code: "request_cancelled" },
  internal: { type: "server_error" },
};

/** Maximum `retry-after`, in seconds: OpenAI's SDK ignores longer delays and uses its own short backoff, Anthropic's obeys any. */
const MAX_RETRY_AFTER = 60;

/** Encodes an error before the first byte. */
export function encodeError(error: GatewayError): ErrorAnswer {
  return {
    status: error.status,
    headers: { ...challenge(error), ...retryHeaders(error), ...error.headers },
    body: encodeBody(isOverBudget(error) ? error.with({ code: WIRE.quota.code }) : error),
  };
}

/** Before an answer, the SDKs recognise an exhausted budget by the word of the vendor. */
function isOverBudget({ code }: GatewayError): boolean {
  return code === BUDGET_EXHAUSTED;
}

/** Encodes the body of an error. */
export function encodeBody(error: GatewayError): JsonObject {
  const { type, code } = WIRE[error.kind];
  return {
    error: {
      message: messageOf(error),
      type,
      param: error.param ?? null,
      code: error.code ?? code ?? null,
    },
  };
}

/** LiteLLM, and thus aider, recognise a prompt that is too long by the beginning of OpenAI's message. */
const TOO_LONG: TooLongWords = {
  known: /^this model's maximum context length is \d+ tokens/i,
  withFigures: ({ sent, allowed }) =>
    `This model's maximum context length is ${allowed} tokens. However, your messages resulted in ${sent} tokens. Please reduce the length of the messages.`,
  withoutFigures: (message) => `This model's maximum context length is exceeded: ${message}`,
};

/** Words the message as clients of OpenAI match it. */
export function messageOf({ kind, code, message }: GatewayError): string {
  if (code === "context_length_exceeded") return wordTooLong(message, TOO_LONG);
  const isWrongKey = kind === "authentication" && code === "invalid_api_key";
  return isWrongKey ? `Incorrect API key provided. ${message}` : message;
}

/** RFC 9110 requires a challenge with every 401. */
function challenge(error: GatewayError): Record<string, string> {
  return error.status === 401 ? { "www-authenticate": "Bearer" } : {};
}

/** When a retry makes sense, as the SDKs read it. */
export function retryHeaders(error: GatewayError): Record<string, string> {
  const shouldRetry = error.shouldRetry ?? (error.kind === "quota" ? false : undefined);
  return {
    ...(error.retryAfter !== undefined && {
      "retry-after": String(Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil(error.retryAfter)))),
    }),
    ...(shouldRetry !== undefined && { "x-should-retry": String(shouldRetry) }),
  };
}
