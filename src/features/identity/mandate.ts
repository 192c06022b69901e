/**
 * What a manager may do of an operation that an admin may do whole: keys for calls, limits below its path up to those of the path
 * itself, members and viewers.
 */
import type { Caller } from "../../admin/callers.ts";
import { findKey, findRule } from "../../admin/entries.ts";
import type { AskedRequest } from "../../admin/own-pages.ts";
import { formatNano } from "../../ledger/money.ts";
import { isWithin } from "../../ledger/keys/path.ts";
import type { Budget, RateLimit, RateUnit, Subject } from "../../ledger/policy.ts";
import type { changeBudget, createBudget, raiseBudget } from "../../operator/budgets.ts";
import type { BodyOf } from "../../operator/contract.ts";
import { AdminError } from "../../operator/errors.ts";
import type { createKey } from "../../operator/keys.ts";
import type { changeRate, createRate } from "../../operator/rates.ts";
import type { Role } from "./groups.ts";
import type { Narrow } from "./role-table.ts";

const managers = new WeakSet<Caller>();

/** From now on {@link rolesToGive} knows that the caller acts as a manager. */
export const noteManager = (caller: Caller): void => void managers.add(caller);

const ALL: readonly Role[] = ["viewer", "member", "manager", "admin", "auditor"];
const OF_MANAGERS: readonly Role[] = ["viewer", "member"];

/** The roles that a caller may give to people on its path and below. */
export const rolesToGive = (caller: Caller): readonly Role[] => (managers.has(caller) ? OF_MANAGERS : ALL);

/** Somebody above may have suspended a person for good reason. */
export const mayRestore = (caller: Caller): boolean => !managers.has(caller);

/** @throws AdminError 403, or 404 for what the manager does not see */
export async function expectManaged(narrow: Narrow, id: string, request: AskedRequest): Promise<void> {
  if (narrow === "keys") return expectCallKey(id, request);
  // Of people, the operations themselves ask what the caller may give.
  if (narrow === "limits") return LIMITS[id]!(request);
}

function expectCallKey(id: string, request: AskedRequest): void {
  if (id === "playground") return;
  if (id !== "createKey") {
    if (findKey(request, request.params["id"]!).kind !== "call") throw refused(CALLS_ONLY);
    return;
  }
  const { body, caller } = request;
  const { kind = "call", path = caller.path, budget, rates } = body as BodyOf<typeof createKey>;
  if (kind !== "call") throw refused(CALLS_ONLY, "/kind");
  if (isWithin(path, caller.path)) {
    if (budget) expectBudget({ window: "month", ...budget }, request, "/budget/limit");
    if (rates) expectRates({ limits: rates }, request, "/rates");
  }
}

const CALLS_ONLY = "A manager makes and changes keys for calls only.";

const LIMITS: Readonly<Record<string, (request: AskedRequest) => void>> = {
  createBudget(request) {
    const body = request.body as BodyOf<typeof createBudget>;
    expectBelow(body.on, request);
    expectBudget({ window: "month", ...body }, request);
  },
  changeBudget(request) {
    const body = request.body as BodyOf<typeof changeBudget>;
    const budget = budgetOf(request);
    if (body.on) expectBelow(body.on, request);
    expectBudget({ ...budget, ...body }, request);
  },
  raiseBudget(request) {
    const body = request.body as BodyOf<typeof raiseBudget>;
    expectBudget({ ...budgetOf(request), ...body }, request);
  },
  deleteBudget: (request) => void budgetOf(request),
  createRate(request) {
    const body = request.body as BodyOf<typeof createRate>;
    expectBelow(body.on, request);
    expectRates(body, request);
  },
  changeRate(request) {
    const body = request.body as BodyOf<typeof changeRate>;
    const rate = rateOf(request);
    if (body.on) expectBelow(body.on, request);
    expectRates({ ...rate, ...body }, request);
  },
  deleteRate: (request) => void rateOf(request),
};

/** @throws AdminError 403, 404 */
function budgetOf(request: AskedRequest): Budget {
  const { budgets } = request.books.policy();
  const found = findRule("budget", budgets, request, request.params["id"]!);
  expectBelow(found.on, request);
  return found;
}

/** @throws AdminError 403, 404 */
function rateOf(request: AskedRequest): RateLimit {
  const found = findRule("rate limit", request.books.policy().rates, request, request.params["id"]!);
  expectBelow(found.on, request);
  return found;
}

/** What counts the manager's own path is the ceiling. @throws AdminError 403 */
function expectBelow({ kind, what }: Subject, { caller }: AskedRequest): void {
  if (kind === "key" || (kind === "path" && what !== caller.path)) return;
  throw refused(
    `A manager of ${caller.path} sets limits of keys and of paths below it; those of ${caller.path} itself are its own ceiling.`,
    "/on",
  );
}

/** Whether a limit counts all calls on a path. */
const counts = ({ kind, what }: Subject, path: string) =>
  kind === "all" || (kind === "path" && isWithin(path, what));

/** @throws AdminError 403 for more than the budgets of the manager's path and above allow in the same time */
function expectBudget(
  { limit, window }: Pick<Budget, "limit" | "window">,
  { books, caller }: AskedRequest,
  at = "/limit",
): void {
  for (const { name, on, mode, ...ceiling } of books.policy().budgets) {
    if (mode === "watch" || !counts(on, caller.path)) continue;
    const [own, other] = [hoursOf(window), hoursOf(ceiling.window)];
    const most = ceiling.limit * (own > other ? Math.ceil(own / other) : 1);
    if (limit > most)
      throw refused(`The budget ${name} of ${caller.path} and above allows ${formatNano(most)}.`, at);
  }
}

/** Longest duration. */
function hoursOf(window: Budget["window"]): number {
  if (typeof window === "object") return window.hours;
  return { day: 24, week: 168, month: 744, total: Infinity }[window];
}

/** @throws AdminError 403 */
function expectRates(
  { limits, burst = {} }: Pick<RateLimit, "limits" | "burst">,
  { books, caller }: AskedRequest,
  at = "/limits",
): void {
  for (const { name, on, ...ceiling } of books.policy().rates) {
    if (!counts(on, caller.path)) continue;
    for (const [unit, most] of Object.entries(ceiling.limits) as [RateUnit, number][]) {
      const mostBurst = ceiling.burst?.[unit] ?? most;
      if ((limits[unit] ?? 0) > most || (burst[unit] ?? 0) > mostBurst)
        throw refused(`The rate limit ${name} of ${caller.path} and above allows ${most} ${unit}.`, at);
    }
  }
}

function refused(sentence: string, path?: string): AdminError {
  return new AdminError(403, "not_permitted", sentence, path === undefined ? {} : { path });
}
