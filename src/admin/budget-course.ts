/** The course of budgets at the moment: how fast they are spent, and whether calls that they count are refused. */
import { type ModelSets, patternsOf } from "../core/model-sets.ts";
import type { Filter } from "../keeper/reports/shapes.ts";
import type { Budget, Subject } from "../ledger/policy.ts";
import type { AdminBooks } from "./books.ts";

export interface BudgetCourse {
  /** Cost of the calls of the last hour or two. Nano-dollars an hour. */
  pace: number;
  /** Calls that the budget counts and that a budget refused, since `refusedFrom`. */
  refused: number;
  /** Milliseconds since 1970. */
  refusedFrom: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Each budget is two short readings. For the others of a longer list nothing is known. */
const MOST = 100;

/** @returns the course of budgets, by id */
export async function courseOf(
  budgets: readonly Budget[],
  books: AdminBooks,
  now: number,
): Promise<ReadonlyMap<string, BudgetCourse>> {
  // The sums are those of whole hours: with the hour before, a pace is that of an hour at least.
  const from = Math.floor(now / HOUR_MS) * HOUR_MS - HOUR_MS;
  const entries = budgets.slice(0, MOST).map(async (budget) => {
    const filter = filterOf(budget.on, books.policy().modelSets);
    if (filter === undefined) return [];
    const { total } = await books.usage({ ...filter, from, by: [] });
    const pace = Math.round((total.cost / (now - from)) * HOUR_MS);
    const refusedFrom = now - DAY_MS;
    const refused = await countRefused({ ...filter, from: refusedFrom }, total.refused, budget, books);
    return [[budget.id, { pace, refused, refusedFrom }] as const];
  });
  return new Map((await Promise.all(entries)).flat());
}

/** @param recent calls of the last hour or two that any rule refused: without one, nothing is refused at the moment */
async function countRefused(
  filter: Filter,
  recent: number,
  { mode }: Budget,
  books: AdminBooks,
): Promise<number> {
  if (recent === 0 || mode === "watch") return 0;
  return (await books.summary({ ...filter, refused: "budget", slices: 1 })).calls;
}

/** The calls that a budget on a subject counts. @returns undefined for sessions, which have no sums */
function filterOf({ kind, what }: Subject, sets: ModelSets = {}): Filter | undefined {
  if (kind === "session") return undefined;
  if (kind === "all") return {};
  if (kind === "model") return { model: patternsOf(what, sets) };
  return kind === "path" ? { within: what } : { [kind]: what };
}
