/** All that the page Keys & budgets shows, from the answers of the admin API. Amounts are nano-dollars. */
import type { Budget, Key, KeyField, Rate, UsageRow } from "../../data/types.ts";
import { isWithin, levelOf, openWindow, shareOf, type BudgetWindow, type Level } from "./budget-words.ts";

export interface BudgetState {
  budget: Budget;
  window: BudgetWindow;
  level: Level;
  /** Sessions with a window of their own; absent unless the budget is on sessions. */
  sessions?: number;
}

export interface KeysOverview {
  keys: readonly Key[];
  /** Options of keys besides those that every build has. */
  options: readonly KeyField[];
  budgets: readonly BudgetState[];
  rates: readonly Rate[];
  /** This month, by id of the key and by path. */
  byKey: ReadonlyMap<string, UsageRow>;
  byPath: ReadonlyMap<string, UsageRow>;
}

interface Answers {
  keys: readonly Key[];
  options?: readonly KeyField[];
  budgets: readonly Budget[];
  rates: readonly Rate[];
  byKey: readonly UsageRow[];
  byPath: readonly UsageRow[];
}

/** @param now milliseconds since 1970 */
export function overviewOf(
  { keys, options = [], budgets, rates, byKey, byPath }: Answers,
  now: number,
): KeysOverview {
  const usageOfKeys = mapBy(byKey, "key");
  const usageOfPaths = mapBy(byPath, "path");
  const states = budgets.map((budget) => stateOf(budget, usualOf(budget, usageOfKeys, usageOfPaths), now));
  // The fullest first: it is the one that needs the operator.
  states.sort((a, b) => shareOf(b.budget, b.window) - shareOf(a.budget, a.window));
  return { keys, options, budgets: states, rates, byKey: usageOfKeys, byPath: usageOfPaths };
}

function mapBy(rows: readonly UsageRow[], group: string): Map<string, UsageRow> {
  return new Map(rows.map((row) => [(row.group as Readonly<Record<string, string>>)[group] ?? "", row]));
}

export function stateOf(budget: Budget, usual: number, now: number): BudgetState {
  if (budget.on.kind === "session") return sessionState(budget, usual, now);
  const window = openWindow(budget, now);
  return { budget, window, level: levelOf(budget, window, usual) };
}

/** Each session has the whole limit; the state is that of the fullest. */
function sessionState(budget: Budget, usual: number, now: number): BudgetState {
  const open = budget.windows.filter(({ startsAt, endsAt = Infinity }) => startsAt <= now && now < endsAt);
  const window = [...open].sort((a, b) => a.left - b.left)[0] ?? openWindow(budget, now);
  return { budget, window, level: levelOf(budget, window, usual), sessions: open.length };
}

/** The usual cost of a call that the budget counts; 0 if that is not known. */
function usualOf(
  { on: { kind, what } }: Budget,
  byKey: ReadonlyMap<string, UsageRow>,
  byPath: ReadonlyMap<string, UsageRow>,
): number {
  const rows =
    kind === "key" ? [byKey.get(what)] : [...byPath].flatMap(([path, row]) => (counts(path) ? [row] : []));
  let [cost, calls] = [0, 0];
  for (const row of rows) {
    cost += row?.cost ?? 0;
    calls += (row?.calls ?? 0) - (row?.refused ?? 0);
  }
  return calls > 0 ? cost / calls : 0;

  function counts(path: string): boolean {
    return kind === "all" || (kind === "path" && path !== "" && isWithin(path, what));
  }
}
