/** Errors as a chat-completions client expects them. */
import type { ErrorKind, GatewayError } from "../../../core/error.ts";
import type { ErrorAnswer, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { TooLongWords } from "../../shared/too-long.ts";
import { wordTooLong } from "../../shared/too-long.ts";

/** How the dialect names each kind. `code` stands where the error brings none. */
const DIALECT: Record<ErrorKind, { type: string; code?: string }> = {
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

/** Longest wait a client is told, in seconds: the SDK ignores more and takes its own short one. */
const MAX_RETRY_AFTER = 60;

/** An error before the first byte. */
export function encodeError(error: GatewayError): ErrorAnswer {
  return {
    status: error.status,
    headers: { ...challenge(error), ...retryHeaders(error), ...error.headers },
    body: encodeBody(error),
  };
}

/** An error after the first byte; no `[DONE]` follows. */
export function encodeStreamError(error: GatewayError): Frame[] {
  return [{ data: JSON.stringify(encodeBody(error)) }];
}

function encodeBody(error: GatewayError): JsonObject {
  const { type, code } = DIALECT[error.kind];
  return {
    error: {
      message: sentenceOf(error),
      type,
      param: error.param ?? null,
      code: error.code ?? code ?? null,
    },
  };
}

/** LiteLLM, and aider with it, recognises an overflow by how OpenAI's sentence begins. */
const TOO_LONG: TooLongWords = {
  known: /^this model's maximum context length is \d+ tokens/i,
  withFigures: ({ sent, allowed }) =>
    `This model's maximum context length is ${allowed} tokens. However, your messages resulted in ${sent} tokens. Please reduce the length of the messages.`,
  withoutFigures: (message) => `This model's maximum context length is exceeded: ${message}`,
};

/** The error's sentence in words that clients of OpenAI match on. */
function sentenceOf({ kind, code, message }: GatewayError): string {
  if (code === "context_length_exceeded") return wordTooLong(message, TOO_LONG);
  const isWrongKey = kind === "authentication" && code === "invalid_api_key";
  return isWrongKey ? `Incorrect API key provided. ${message}` : message;
}

/** RFC 9110 wants a challenge beside every 401. */
function challenge(error: GatewayError): Record<string, string> {
  return error.status === 401 ? { "www-authenticate": "Bearer" } : {};
}

function retryHeaders(error: GatewayError): Record<string, string> {
  const shouldRetry = error.shouldRetry ?? (error.kind === "quota" ? false : undefined);
  return {
    ...(error.retryAfter !== undefined && {
      "retry-after": String(Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil(error.retryAfter)))),
    }),
    ...(shouldRetry !== undefined && { "x-should-retry": String(shouldRetry) }),
  };
}
