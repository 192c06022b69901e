/** What the tables of own fields share. */
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

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
