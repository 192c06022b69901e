/** Encodes errors for Messages clients. */
import type { ErrorKind, GatewayError } from "../../../core/error.ts";
import { STATUS } from "../../../core/error.ts";
import { BUDGET_EXHAUSTED, SPEND_LIMIT_REACHED } from "../../../core/refusal.ts";
import type { ErrorAnswer, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { retryHeaders } from "../../shared/error-envelope.ts";
import type { TooLongWords } from "../../shared/too-long.ts";
import { wordTooLong } from "../../shared/too-long.ts";

/** Wire names of the error kinds. `status` is set where it differs from that of the kind. */
const WIRE: Record<ErrorKind, { type: string; status?: number }> = {
  "invalid-request": { type: "invalid_request_error" },
  authentication: { type: "authentication_error" },
  permission: { type: "permission_error" },
  "not-found": { type: "not_found_error" },
  "method-not-allowed": { type: "invalid_request_error" },
  conflict: { type: "conflict_error" },
  "too-large": { type: "request_too_large" },
  "unsupported-media-type": { type: "invalid_request_error" },
  "rate-limited": { type: "rate_limit_error" },
  quota: { type: "billing_error", status: 402 },
  overloaded: { type: "overloaded_error", status: 529 },
  timeout: { type: "timeout_error" },
  upstream: { type: "api_error" },
  "upstream-auth": { type: "api_error" },
  cancelled: { type: "invalid_request_error" },
  internal: { type: "api_error" },
};

/** Encodes an error before the first byte. */
export function encodeError(error: GatewayError, requestId: string): ErrorAnswer {
  return {
    status: statusOf(error),
    headers: { ...error.headers, ...retryHeaders(error) },
    body: encodeBody(error, requestId),
  };
}

/** Encodes an error after the first byte: open blocks stay open, and nothing follows. */
export function encodeStreamError(error: GatewayError, requestId: string): Frame[] {
  return [{ event: "error", data: JSON.stringify(encodeBody(error, requestId)) }];
}

function encodeBody(error: GatewayError, requestId: string): JsonObject {
  const { type } = wireOf(error);
  const details = error.code === undefined ? {} : { details: { error_code: error.code, ...error.details } };
  return {
    type: "error",
    error: { type, message: messageOf(error), ...details },
    request_id: requestId,
  };
}

/** An exhausted budget of weir is no fault of billing: the vendor's word for it would end other calls of the client, too. */
function wireOf({ kind, code }: GatewayError): { type: string; status?: number } {
  if (code === SPEND_LIMIT_REACHED) return { type: WIRE.quota.type };
  return code === BUDGET_EXHAUSTED ? WIRE["rate-limited"] : WIRE[kind];
}

/** A status of the error itself overrides the one in the table, which overrides the default of the kind. */
function statusOf(error: GatewayError): number {
  if (error.status !== STATUS[error.kind]) return error.status;
  return wireOf(error).status ?? error.status;
}

/**
 * Claude Code recognises a prompt that is too long by the wording of the message: weir words that error of every vendor
 * like Anthropic, with the documented token.
 */
const TOO_LONG: TooLongWords = {
  known: /prompt is too long: \d+ tokens > \d+ maximum|exceed context limit/,
  withFigures: ({ sent, allowed }) =>
    `prompt is too long: ${sent} tokens > ${allowed} maximum (capability_rejected: prompt_too_long)`,
  withoutFigures: (message) => `prompt is too long (capability_rejected: prompt_too_long): ${message}`,
};

function messageOf({ code, message }: GatewayError): string {
  return code === "context_length_exceeded" ? wordTooLong(message, TOO_LONG) : message;
}
