/** Answers of a Messages upstream that cannot be read. */
import { GatewayError } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** @param what cannot be read; only the log is told */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that cannot be read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}

/** Whether a body has Anthropic's shape. Clients look for its `error.type` and for its wordings. */
export function isErrorBody({ type, error }: JsonObject): boolean {
  return (
    type === "error" && isObject(error) && typeof error.type === "string" && typeof error.message === "string"
  );
}
