/** Errors as events of the session. */
import { type ErrorKind, GatewayError } from "../../core/error.ts";

/** Code of the error of a session whose budget is exhausted. */
const BUDGET_EXCEEDED = "budget_exceeded";

const TYPES: Readonly<Partial<Record<ErrorKind, string>>> = {
  quota: "insufficient_quota",
  "rate-limited": "rate_limit_error",
  authentication: "authentication_error",
  permission: "permission_error",
  internal: "server_error",
  upstream: "server_error",
  overloaded: "server_error",
  timeout: "server_error",
};

/** @param cause `event_id` of the client's event @returns JSON text */
export function errorEvent(error: GatewayError, id: string, cause?: string): string {
  const { kind, code, message, param } = error;
  return JSON.stringify({
    type: "error",
    event_id: id,
    error: {
      type: TYPES[kind] ?? "invalid_request_error",
      code: kind === "quota" ? BUDGET_EXCEEDED : (code ?? null),
      message,
      param: param ?? null,
      event_id: cause ?? null,
    },
  });
}

/** A client's event that weir does not pass on. */
export function refusedEvent(message: string, code: string, param?: string): GatewayError {
  return new GatewayError("invalid-request", message, { code, ...(param !== undefined && { param }) });
}
