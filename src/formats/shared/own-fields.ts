/** What the tables of own fields share. */
import { type GatewayError, invalidRequest } from "../../core/error.ts";

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
