/** Random tests with a budget of time instead of a number of runs: a slow machine runs fewer cases and fails no sooner. */
import type { IAsyncProperty, IProperty } from "fast-check";
import fc from "fast-check";
import { IS_ALL, IS_LONG } from "./effort.ts";

/** Milliseconds for each property. */
const BUDGET_MS = IS_LONG ? 1_000 : IS_ALL ? 100 : 5;

/** Cases that run even if they exceed the budget. */
const LEAST_CASES = 25;

/**
 * Tests a property with random values until its budget is used up, at least 25 times. The values are the same in every
 * run: batch n has the seed n.
 * @throws Error with the seed, the path and the smallest counterexample that fast-check found
 */
export function withinBudget<T>(property: IProperty<T>): void;
export function withinBudget<T>(property: IAsyncProperty<T>): Promise<void>;
export function withinBudget<T>(property: IProperty<T> | IAsyncProperty<T>): void | Promise<void> {
  const endsAt = performance.now() + BUDGET_MS;
  const runBatch = (seed: number) => fc.assert(property, { seed, numRuns: LEAST_CASES });
  let seed = 1;
  const first = runBatch(seed);
  if (first)
    return first.then(async () => {
      while (performance.now() < endsAt) await runBatch(++seed);
    });
  while (performance.now() < endsAt) void runBatch(++seed);
}
