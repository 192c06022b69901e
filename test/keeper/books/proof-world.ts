/** Books with budgets, draws and calls that end in all ways, for proofs of them. */
import type { AuditReport } from "../../../src/keeper/reports/shapes.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { CHARGE_STATES } from "../../../src/ledger/charge.ts";
import { DOLLAR } from "../../../src/ledger/money.ts";
import { budgetAccount, type CallRecord } from "../../../src/ledger/record.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, MONTH, NOW, rule } from "./make.ts";

export const A = budgetAccount("a", MONTH);
export const B = budgetAccount("b", MONTH);
export const HOUR = 3_600_000;

/** Numbers that repeat in each run. */
export function randomBy(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

/** A call that ends in one of the ways in which calls end. */
function mixedCall(random: (below: number) => number): CallRecord {
  const attempts = Array.from({ length: [1, 1, 1, 0, 2, 3][random(6)]! }, () => {
    const state = CHARGE_STATES[random(CHARGE_STATES.length)]!;
    const isPriced = state !== "unpriced" && state !== "free";
    return attempt(
      {
        provider: `provider-${random(3)}`,
        accounts: [[], [A], [A, B]][random(3)],
        usage: {
          input: random(900),
          cacheRead: random(90),
          cacheWrite: random(9),
          output: random(500),
          reasoning: 0,
        },
        held: 500_000,
      },
      {
        state,
        cost: isPriced ? random(400_000) : 0,
        price: state === "reported" ? undefined : `p${random(3)}`,
      },
    );
  });
  return call({
    key: `key_${random(4)}`,
    startedAt: NOW - random(60 * HOUR),
    outcome: (["complete", "failed", "cancelled"] as const)[random(3)]!,
    ...(random(9) === 0 && { refused: "budget" as const }),
    attempts,
  });
}

/** Makes the budgets of a store. @param life of the worker @returns function that writes calls */
export async function writing(store: SqlStore, life = "life"): Promise<(count: number) => Promise<void>> {
  const limit = 900 * DOLLAR;
  for (const id of ["a", "b"]) await store.saveBudget(budget(id, { limit }), ACTOR);
  const most = 500 * DOLLAR;
  await store.draw([A, B].map((account) => draw(account, { limit, need: most, want: most })));
  const random = randomBy(7);
  let seq = 0;
  return async (count) => {
    for (let left = count; left > 0; left -= 100) {
      const calls = Array.from({ length: Math.min(100, left) }, () => mixedCall(random));
      const prices = ["p0", "p1", "p2"].map((ref) => rule(ref));
      await store.commit(commit({ batches: [{ ...batch(++seq, calls, life), prices }] }));
    }
  };
}

/** The checks that do not hold. */
export const proofOf = ({ checks }: AuditReport) => checks.filter(({ holds }) => !holds);
