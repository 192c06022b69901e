/** The error for a content part that the target's format cannot express. */
import type { ForeignBlock } from "../../core/chat.ts";
import type { GatewayError } from "../../core/error.ts";
import { invalidRequest } from "../../core/error.ts";
import { isObject } from "../../core/json.ts";

/**
 * weir refuses such a request, because the model would answer without having seen the part.
 * @param path of the part in the client's request @param model as the client named it
 */
export function unsupportedContent({ value }: ForeignBlock, path: string, model: string): GatewayError {
  const type =
    (isObject(value) && (typeof value.type === "string" ? value.type : Object.keys(value)[0])) || "unknown";
  const word = type.slice(0, 64).replace(/[^\w.-]/g, "?");
  return invalidRequest(
    `${path}: weir cannot translate content of type ${word} for the model ${model}; remove it or choose another model.`,
    path,
    "unsupported_value",
  );
}
