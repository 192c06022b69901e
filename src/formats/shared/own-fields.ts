/** Fields without a canonical equivalent (src/formats/README.md#own-fields): their tables, and their values for other formats. */
import type { ChatRequest, OwnField, SharedField } from "../../core/chat.ts";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import { isObject, type Json } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";

/** The error for a field that weir cannot translate. */
export function untranslatable(name: string): GatewayError {
  return invalidRequest(
    `weir cannot translate '${name}' for this provider; remove it or choose another model.`,
    name,
    "unsupported_value",
  );
}

/** For fields that count with any value. */
export const always = (): boolean => true;

/** For lists, objects and texts that ask for nothing while they are empty. */
export function isFull(value: Json): boolean {
  if (Array.isArray(value) || typeof value === "string") return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}

/** Whether `moderation` of OpenAI can block the answer. */
export function blocksByModeration(moderation: Json): boolean {
  if (!isObject(moderation) || !isObject(moderation.policy)) return false;
  return Object.values(moderation.policy).some((side) => isObject(side) && side.mode === "block");
}

/**
 * The values of fields that the formats share, as clients of other formats sent them.
 * @param own the provider's format
 */
export function sharedFields(
  request: Pick<ChatRequest, "extra" | "ownFields">,
  own: string,
): Partial<Record<SharedField, Json>> {
  const shared: Partial<Record<SharedField, Json>> = {};
  for (const { value, field } of foreignFields(request, own)) if (field.means) shared[field.means] = value;
  return shared;
}

/** A field of a format, with what its table says about it. */
interface Foreign {
  name: string;
  value: Json;
  field: OwnField;
}

const NONE: readonly Foreign[] = [];

/** The fields of all formats but one that have an entry in the table of their format. */
export function foreignFields(
  { extra, ownFields = {} }: Pick<ChatRequest, "extra" | "ownFields">,
  own: string,
): readonly Foreign[] {
  let found: Foreign[] | undefined;
  for (const format in extra) {
    const table = format === own ? undefined : getOwn(ownFields, format);
    if (!table) continue;
    for (const [name, value] of Object.entries(extra[format]!).flatMap(withMembers)) {
      const field = getOwn(table, name);
      if (value != null && field) (found ??= []).push({ name, value, field });
    }
  }
  return found ?? NONE;
}

/** A field, and each of its members as `field.member`. */
function withMembers([name, value]: [string, Json | undefined]): [string, Json | undefined][] {
  const members = isObject(value) ? Object.entries(value) : [];
  return [
    [name, value],
    ...members.map(([member, inner]): [string, Json | undefined] => [`${name}.${member}`, inner]),
  ];
}
