/** Applies what a format says about the loss of its own fields, for a provider of another format. */
import type { ChatRequest, SharedField } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import { foreignFields, untranslatable } from "./own-fields.ts";

/**
 * Refuses the request or reports a loss for the fields of all other formats.
 * @param own the provider's format, whose fields are carried
 * @param carried fields of all formats that the provider has too
 * @throws GatewayError `invalid-request`, code `unsupported_value`, for a field that weir must not drop
 */
export function checkForeignFields(
  request: Pick<ChatRequest, "extra" | "ownFields">,
  own: string,
  context: Pick<CodecContext, "model" | "reportLoss">,
  carried?: readonly SharedField[],
): void {
  for (const { name, value, field } of foreignFields(request, own)) {
    if (field.refuse?.(value)) throw refused(name, field.reason, context.model);
    if (field.means !== undefined && carried?.includes(field.means)) continue;
    if (field.report?.(value)) context.reportLoss("dropped", name, "the provider has no equivalent field");
  }
}

/** The error for a field that the client depends on and the provider cannot receive. */
function refused(name: string, reason: string | undefined, model: string): GatewayError {
  if (reason === undefined) return untranslatable(name);
  return invalidRequest(
    `${name}: ${reason} for the model ${model}; remove the field or choose another model.`,
    name,
    "unsupported_value",
  );
}
