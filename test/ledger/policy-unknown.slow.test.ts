/** A worker that was started while the keeper cannot read its store knows no budget. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { begin, budget, testLedger } from "../helpers/ledger.ts";

const faultOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (fault: unknown) => fault,
  );

test("without the policy calls are refused with 503 until it is known, and its budgets hold then", async () => {
  const { ledger, keeper, declared } = testLedger({ awaitsPolicy: true });
  for (const fault of await Promise.all([faultOf(begin(ledger)), faultOf(begin(ledger))])) {
    expect(fault).toBeInstanceOf(GatewayError);
    expect((fault as GatewayError).code).toBe("ledger_unavailable");
  }
  const budgets = [budget("all", DOLLAR)];
  keeper.limit(budgetAccount("all", 0), 0);
  const waiting = faultOf(begin(ledger));
  keeper.tell({ kind: "policy", policy: { ...declared, version: 1, closed: false, budgets } });
  expect(await waiting).toMatchObject({ code: "budget_exhausted" });
});

test("with `onLoss: open` they are admitted", async () => {
  const { ledger } = testLedger({ awaitsPolicy: true, settings: { onLoss: "open" } });
  expect(await faultOf(begin(ledger))).toBeUndefined();
});
