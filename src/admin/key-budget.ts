/** The budget that a new key gets when none is named. */
import { globMatches } from "../core/glob.ts";
import { isWithin } from "../ledger/keys/path.ts";
import type { Budget, KeyEntry, Policy } from "../ledger/policy.ts";
import { newBudget } from "./operations/budgets.ts";

/** Longest name of a budget. */
const LONGEST = 64;

/** By the longest path or pattern that matches the key's path; undefined where none does. */
export function budgetOfPath(
  { id, name, path, kind }: KeyEntry,
  { keyBudgets = [], budgets }: Policy,
): Budget | undefined {
  if (kind !== "call") return undefined;
  const matching = keyBudgets.filter(({ path: text }) =>
    text.includes("*") ? globMatches(text, path) : isWithin(path, text),
  );
  const [found] = matching.sort((one, other) => other.path.length - one.path.length);
  if (!found) return undefined;
  // Nobody has named it, so that a name that is taken is no reason to refuse.
  const isTaken = budgets.some((budget) => budget.name === name);
  const own = isTaken ? `${[...name].slice(0, LONGEST - id.length - 1).join("")}-${id}` : name;
  return newBudget({ name: own, on: { kind: "key", what: id }, ...found.budget });
}
