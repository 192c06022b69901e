import type { Call } from "../../core/call.ts";

/** The owner of stored answers: a permanent id of the gateway key, so that a new key of the same name inherits nothing. */

/** @returns the id of the call's key; empty while calls need none */
export function ownerOf({ access }: Pick<Call, "access">): string {
  return access?.id ?? "";
}
