/** Calls while the keeper does not answer, or has not said which budgets there are: each waits for seconds. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { begin, budget, finish, testLedger, usage } from "../helpers/ledger.ts";

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

test("while the keeper does not answer, a hard budget refuses and a soft one does not", async () => {
  const hard = testLedger({ budgets: [budget("all", DOLLAR)] });
  hard.keeper.silent = true;
  const soft = testLedger({ budgets: [budget("all", DOLLAR, { mode: "soft" })] });
  soft.keeper.silent = true;
  const open = testLedger({ budgets: [budget("all", DOLLAR)], settings: { onLoss: "open" } });
  open.keeper.silent = true;
  const [error, softly, openly] = await Promise.all([
    begin(hard.ledger).catch((thrown: unknown) => thrown),
    begin(soft.ledger),
    begin(open.ledger),
  ]);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ status: 503, code: "ledger_unavailable", retryAfter: 5 });
  finish(soft.ledger, softly, usage(1, 1));
  finish(open.ledger, openly, usage(1, 1));
});
