/** What people with roles may do in the admin API. */
import type { Caller } from "../../admin/callers.ts";
import type { Needs } from "../../operator/contract.ts";
import type { Grant, Role } from "./groups.ts";

/** Reading that only admins may do besides: what calls contain. */
const OF_AUDITORS = new Set(["getCallBody"]);

/**
 * The roles that may use an operation. Members use models and see themselves; the admin API is not for them. Managers read: an
 * operation that changes keys could make one for the admin API.
 */
function rolesFor({ id, needs }: { id: string; needs: Needs }): readonly Role[] {
  if (needs.role === "admin") {
    return OF_AUDITORS.has(id) ? ["admin", "auditor"] : ["admin"];
  }
  return ["admin", "manager", "viewer", "auditor"];
}

/**
 * The caller of an operation: of the grants that permit it, the one on the widest path counts.
 * @returns a caller without a role, if none does
 */
export function callerWith(
  grants: readonly Grant[],
  person: string,
  address: string,
  operation: { id: string; needs: Needs },
): Caller {
  const roles = rolesFor(operation);
  const fitting = grants.filter(
    ({ role, on }) => roles.includes(role) && (operation.needs.on === "path" || on === "/"),
  );
  const [widest] = [...fitting].sort((a, b) => depthOf(a.on) - depthOf(b.on) || (a.on < b.on ? -1 : 1));
  const common = { actor: person, address, scopes: {} };
  if (!widest) return { ...common, role: "none", path: "/" };
  const isAdmin =
    operation.needs.role === "admin" || fitting.some(({ role, on }) => role === "admin" && on === widest.on);
  return { ...common, role: isAdmin ? "admin" : "read", path: widest.on };
}

const depthOf = (path: string) => (path === "/" ? 0 : path.split("/").length);
