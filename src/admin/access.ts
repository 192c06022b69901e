/** Who may use an operation: what its contract needs, against the role and the path of the caller. */
import type { Needs } from "../operator/contract.ts";
import type { Caller } from "./callers.ts";

/** What each role of a caller satisfies. */
const SATISFIES: Readonly<Record<Caller["role"], readonly Needs["role"][]>> = {
  none: ["none"],
  read: ["none", "scraper", "read"],
  admin: ["none", "scraper", "read", "admin"],
};

/** A caller without a credential on a listener that only this machine reaches. */
const LOCAL: readonly Needs["role"][] = ["none", "scraper"];

/**
 * @param isLocal only this machine reaches the listener
 * @returns why the caller may not use an operation, as a sentence; undefined if it may
 */
export function refusalOf(
  { role, on }: Needs,
  caller: Pick<Caller, "role" | "path">,
  isLocal: boolean,
): string | undefined {
  const satisfied = caller.role === "none" && isLocal ? LOCAL : SATISFIES[caller.role];
  if (!satisfied.includes(role))
    return role === "admin"
      ? "A read key cannot change anything."
      : "The request needs an admin key or a read key.";
  if (on === "gateway" && caller.path !== "/") return "Only a key with the path / may use this operation.";
  return undefined;
}
