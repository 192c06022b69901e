/** The error for a wrong member of a request, in the wording of Anthropic. */
import type { GatewayError } from "../../../core/error.ts";
import { invalidRequest } from "../../../core/error.ts";

/** Code of a fault besides `missing_required_parameter`, which {@link missing} has. */
type Code = "invalid_value" | "unknown_parameter";

/** @param path as Anthropic writes it (`messages.0.content`) */
export function fault(path: string, sentence: string, code: Code = "invalid_value"): GatewayError {
  return invalidRequest(`${path}: ${sentence}`, path, code);
}

/** The error for an absent member. */
export function missing(path: string): GatewayError {
  return invalidRequest(`${path}: Field required`, path, "missing_required_parameter");
}
