/** A content part the target's format has no form for. */
import type { ForeignBlock } from "../../core/chat.ts";
import type { GatewayError } from "../../core/error.ts";
import { invalidRequest } from "../../core/error.ts";
import { isObject } from "../../core/json.ts";

/**
 * The refusal of a part that the model would not see: its answer would be about something else.
 * @param path of the part in the client's request @param model as the client named it
 */
export function unsupportedContent({ value }: ForeignBlock, path: string, model: string): GatewayError {
  const type = isObject(value) && typeof value.type === "string" ? value.type : "unknown";
  const word = type.slice(0, 64).replace(/[^\w.-]/g, "?");
  return invalidRequest(
    `${path}: content of type ${word} cannot be carried over to the model ${model}; leave it out or choose another model.`,
    path,
    "unsupported_value",
  );
}
