import type { Call } from "../../core/call.ts";

/** The owner of stored answers: the permanent id of who asks, so that a new key of the same name inherits nothing. */

/** @returns empty while calls need no key */
export function ownerOf({ principal }: Pick<Call, "principal">): string {
  return principal?.id ?? "";
}
