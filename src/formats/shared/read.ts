/** Reads single JSON values of unchecked input. */
import { GatewayError } from "../../core/error.ts";
import type { Json } from "../../core/json.ts";

/** The value if it is a string. */
export function text(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a number. */
export function number(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** The value if it is an array; an empty array otherwise. */
export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The error for an answer that is not of the provider's format. @param what the unreadable part, for the log only */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that weir cannot read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}
