/** The error for a wrong member of a request, in the wording of Anthropic. */
import type { GatewayError } from "../../../core/error.ts";
import { invalidRequest } from "../../../core/error.ts";

/** Code of a fault besides `missing_required_parameter`, which {@link missing} has. */
type Code = "invalid_value" | "unknown_parameter";

/** @param path in the notation of losses (`messages[0].content`); Anthropic's errors write it with dots */
export function fault(path: string, sentence: string, code: Code = "invalid_value"): GatewayError {
  return at(path, sentence, code);
}

/** The error for an absent member. */
export function missing(path: string): GatewayError {
  return at(path, "Field required", "missing_required_parameter");
}

function at(path: string, sentence: string, code: string): GatewayError {
  const dotted = path.replace(/\[(\d+)\]/g, ".$1");
  return invalidRequest(`${dotted}: ${sentence}`, dotted, code);
}
