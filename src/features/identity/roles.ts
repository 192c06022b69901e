/** What people with roles may do in the admin API. */
import type { Caller } from "../../admin/callers.ts";
import type { AskedRequest, OwnSession } from "../../admin/own-pages.ts";
import type { Scopes } from "../../ledger/policy.ts";
import type { Contract } from "../../operator/contract.ts";
import type { Grant } from "./groups.ts";
import { expectManaged, noteManager } from "./mandate.ts";
import { type Permitted, ROLE_TABLE } from "./role-table.ts";

/** A person in the admin API. */
export interface Acting {
  readonly person: string;
  readonly address: string;
  readonly grants: readonly Grant[];
  /** Keys that it makes as a manager can do no more. */
  readonly scopes: Scopes;
}

type Table = Readonly<Record<string, Permitted>>;
type Operation = Pick<Contract, "id" | "needs">;

/** A path that does not exist. Everybody with a role may learn that. */
const NO_OPERATION = "";
const ANYONE: Permitted = { roles: ["viewer", "manager", "admin", "auditor"] };

/** The rights of a session. */
export function rightsOf(
  acting: Acting,
  table: Table = ROLE_TABLE,
): Required<Pick<OwnSession, "callerOf" | "callerFor">> {
  return {
    callerOf: (operation) => callerWith(acting, operation, table),
    callerFor: (operation, request) => callerFor(acting, operation, request, table),
  };
}

/**
 * The caller of an operation: of the grants that permit it, the one on the widest path counts.
 * @returns a caller without a role, if none does
 */
function callerWith(acting: Acting, operation: Operation, table: Table): Caller {
  const [widest] = fitting(acting, operation, table);
  return widest ? callerBy(acting, operation, widest) : nobody(acting);
}

/**
 * The caller of one request: a manager may do less than an operation could, so the next grant counts where the widest does not permit
 * this request.
 * @throws AdminError why the widest does not
 */
async function callerFor(
  acting: Acting,
  operation: Operation,
  request: AskedRequest,
  table: Table,
): Promise<Caller> {
  const narrow = table[operation.id]?.narrow;
  let refused: unknown;
  for (const grant of fitting(acting, operation, table)) {
    const caller = callerBy(acting, operation, grant);
    if (narrow === undefined || grant.role !== "manager") return caller;
    noteManager(caller);
    try {
      await expectManaged(narrow, operation.id, { ...request, caller });
      return caller;
    } catch (thrown) {
      refused ??= thrown;
    }
  }
  if (refused !== undefined) throw refused;
  return nobody(acting);
}

/** The grants that permit an operation, the widest first, and of one path that of an admin. */
function fitting({ grants }: Acting, { id, needs }: Operation, table: Table): Grant[] {
  const { roles } = id === NO_OPERATION ? ANYONE : (table[id] ?? { roles: [] });
  return grants
    .filter(({ role, on }) => roles.includes(role) && (needs.on === "path" || on === "/"))
    .sort(
      (a, b) =>
        depthOf(a.on) - depthOf(b.on) ||
        (a.on < b.on ? -1 : Number(a.on > b.on)) ||
        Number(b.role === "admin") - Number(a.role === "admin"),
    );
}

function callerBy(
  { person, address, grants, scopes }: Acting,
  { needs }: Operation,
  { role, on }: Grant,
): Caller {
  // The console shows to whom it may offer changes.
  const mayChange = grants.some((one) => one.on === on && (one.role === "admin" || one.role === "manager"));
  return {
    ...{ actor: person, address, path: on },
    role: needs.role === "admin" || mayChange ? "admin" : "read",
    scopes: role === "admin" ? {} : scopes,
  };
}

function nobody({ person, address }: Acting): Caller {
  return { actor: person, address, role: "none", path: "/", scopes: {} };
}

const depthOf = (path: string) => (path === "/" ? 0 : path.split("/").length);
