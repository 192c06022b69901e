/** Errors in the answers of a Messages provider. */
import { GatewayError } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** @param what the unreadable part, for the log only */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that weir cannot read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}

/** Whether a body has the shape of Anthropic's errors. Clients read `error.type` and match its messages. */
export function isErrorBody({ type, error }: JsonObject): boolean {
  return (
    type === "error" && isObject(error) && typeof error.type === "string" && typeof error.message === "string"
  );
}
