/** Fields without a canonical equivalent, seen from a format that does not own them. */
import type { ChatRequest, OwnField, SharedField } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";

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

/** The fields of all formats but one that have an entry in the table of their format. */
export function* foreignFields(
  { extra, ownFields = {} }: Pick<ChatRequest, "extra" | "ownFields">,
  own: string,
): Generator<{ name: string; value: Json; field: OwnField }> {
  for (const [format, fields] of Object.entries(extra)) {
    const table = format === own ? undefined : getOwn(ownFields, format);
    if (!table) continue;
    for (const [name, value] of Object.entries(fields).flatMap(withMembers)) {
      const field = getOwn(table, name);
      if (value != null && field) yield { name, value, field };
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
