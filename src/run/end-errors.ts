/** Errors of calls that weir ends itself. */
import { GatewayError } from "../core/error.ts";

export function shuttingDown(): GatewayError {
  return new GatewayError("overloaded", "The gateway is shutting down; retry the request.", {
    code: "shutting_down",
    retryAfter: 1,
  });
}

export function keyRevoked(): GatewayError {
  return new GatewayError("authentication", "The API key was revoked, and its running calls were ended.", {
    code: "key_revoked",
  });
}
