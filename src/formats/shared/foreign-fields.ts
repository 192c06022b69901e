/** Applies what a format says about the loss of its own fields, for a provider of another format. */
import type { ChatRequest } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";
import { untranslatable } from "./own-fields.ts";

/**
 * Refuses the request or reports a loss for the fields of all other formats.
 * @param own the provider's format, whose fields are carried
 * @throws GatewayError `invalid-request`, code `unsupported_value`, for a field that weir must not drop
 */
export function checkForeignFields(
  request: Pick<ChatRequest, "extra" | "ownFields">,
  own: string,
  { model, reportLoss }: Pick<CodecContext, "model" | "reportLoss">,
): void {
  for (const [format, fields] of Object.entries(request.extra)) {
    if (format === own) continue;
    const table = getOwn(request.ownFields ?? {}, format) ?? {};
    for (const [name, value] of Object.entries(fields).flatMap(withMembers)) {
      const field = getOwn(table, name);
      if (value == null || !field) continue;
      if (field.refuse?.(value)) throw refused(name, field.reason, model);
      if (field.report?.(value)) reportLoss("dropped", name, "the provider has no equivalent field");
    }
  }
}

/** A field, and each of its members as `field.member`. */
function withMembers([name, value]: [string, Json | undefined]): [string, Json | undefined][] {
  const members = isObject(value) ? Object.entries(value) : [];
  return [
    [name, value],
    ...members.map(([member, inner]): [string, Json | undefined] => [`${name}.${member}`, inner]),
  ];
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
