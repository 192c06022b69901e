/** The error for a wrong member of a request, in the wording of OpenAI. */
import type { GatewayError } from "../../core/error.ts";
import { invalidRequest } from "../../core/error.ts";

/** @param path as OpenAI writes it (`messages[0].content`) @param expected what the member must be (`a string`) */
export function fault(path: string, expected: string): GatewayError {
  return invalidRequest(`Invalid '${path}': expected ${expected}.`, path, "invalid_value");
}

/** The error for an absent member. */
export function missing(path: string): GatewayError {
  return invalidRequest(`Missing required parameter: '${path}'.`, path, "missing_required_parameter");
}
