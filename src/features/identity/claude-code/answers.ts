/** Answers of the routes beside calls, in the envelope that Claude Code reads. */
import { type ErrorKind, GatewayError } from "../../../core/error.ts";

const NO_STORE = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

const TYPES: Readonly<Partial<Record<ErrorKind, string>>> = {
  "invalid-request": "invalid_request_error",
  authentication: "authentication_error",
  permission: "permission_error",
  "not-found": "not_found_error",
  "too-large": "request_too_large",
};

export function answer(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    status,
    headers: { ...NO_STORE, "content-type": "application/json", ...headers },
  });
}

/** @param work throws what a client may learn as a GatewayError */
export async function answered(work: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (thrown) {
    const { kind, message, status, shouldRetry, retryAfter, headers } = GatewayError.from(thrown);
    const body = { type: "error", error: { type: TYPES[kind] ?? "api_error", message } };
    return answer(JSON.stringify(body), status, {
      ...(shouldRetry !== undefined && { "x-should-retry": String(shouldRetry) }),
      ...(retryAfter !== undefined && { "retry-after": String(Math.ceil(retryAfter)) }),
      ...headers,
    });
  }
}
