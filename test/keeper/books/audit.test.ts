/** The audit is green for books that were only written by weir, and red when a row was changed by hand. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { PROOF_TABLES } from "../../../src/keeper/proof/tables.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { DOLLAR } from "../../../src/ledger/money.ts";
import { ACTOR, attempt, batch, budget, call, commit, NOW } from "./make.ts";
import { A, B, HOUR, writing } from "./proof-world.ts";

setDefaultTimeout(120_000);

/** Books with budgets, draws, mixed calls, an assumption and a return. */
async function kept(count = 300): Promise<{ store: SqlStore; reports: Reports }> {
  const store = sqliteStore(IN_MEMORY, () => NOW);
  await store.open();
  const write = await writing(store);
  await write(count);
  await store.commit(
    commit({
      assumptions: [{ account: A, amount: 12_345, why: "worker 2 ended" }],
      returns: [{ account: B, amount: 1_000 }],
    }),
  );
  return { store, reports: new Reports(store.sql, store.sql, () => NOW) };
}

const failing = async (reports: Reports) =>
  (await reports.audit()).checks.filter(({ holds }) => !holds).map(({ name }) => name);

test("10,000 calls with mixed endings are 10,000 records, and all sums agree to the nano-dollar", async () => {
  const { store, reports } = await kept(10_000);
  const { holds, checks } = await reports.audit();
  expect(checks.filter((check) => !check.holds)).toEqual([]);
  expect(holds).toBe(true);
  expect(checks[0]).toEqual({ name: "every call has one record", holds: true, detail: "10,000 calls" });
  const [sums] = await store.sql.all(
    `SELECT (SELECT sum(cost) FROM calls) AS calls, (SELECT sum(cost) FROM use_hour) AS hours,
       (SELECT sum(cost) FROM use_day) AS days`,
  );
  expect(sums!["hours"]).toBe(sums!["calls"]!);
  expect(sums!["days"]).toBe(sums!["calls"]!);
}, 120_000);

test("a budget that free calls alone were charged to has no window, and the books hold", async () => {
  const store = sqliteStore(IN_MEMORY, () => NOW, [PROOF_TABLES]);
  await store.open();
  const reports = new Reports(store.sql, store.sql, () => NOW, store.sql, [PROOF_TABLES]);
  expect((await reports.audit()).holds).toBe(true);
  const free = call({ attempts: [attempt({ held: 0, accounts: [A] }, { cost: 0 })] });
  await store.commit(commit({ batches: [{ ...batch(1, [free]), spends: [] }] }));
  expect(await store.sql.all("SELECT account FROM accounts")).toEqual([]);
  expect(await reports.prover.since()).toEqual({ proven: 1 });
  expect(await failing(reports)).toEqual([]);
});

describe("a row that was changed by hand is found", () => {
  const CALLS = "every call has one record";
  const CHARGE = "every attempt has a charge";
  const COST = "calls cost what their attempts were charged";
  const HOURS = "the sums by hour are those of the calls";
  const TARGETS = "the sums by target are those of the attempts";
  const DAYS = "the sums by day are those of the hours";
  const BUDGETS = "budgets count what was charged and assumed";
  const GRANTS = "what is granted is what nodes have drawn";
  const LIMITS = "no hard budget is over its limit";
  const PRICES = "every price that was used is kept, with its source";

  const single =
    "calls WHERE tries = 1 AND state = 0 AND cost > 0 AND accounts IN (SELECT id FROM names WHERE text <> '[]')";
  const one = (table: string, condition: string, change: string) =>
    `UPDATE ${table} SET ${change} WHERE rowid = (SELECT rowid FROM ${condition} LIMIT 1)`;
  const oneUse = (unit: string, change: string) =>
    `UPDATE use_${unit} SET ${change} WHERE (${unit}, caller, target) = (SELECT ${unit}, caller, target FROM use_${unit} WHERE cost > 0 LIMIT 1)`;
  const oneCharge = (change: string) =>
    `UPDATE charges SET ${change} WHERE (number, n) = (SELECT number, n FROM charges WHERE state = 0 AND cost > 0
       AND accounts IN (SELECT id FROM names WHERE text <> '[]') LIMIT 1)`;

  const cases: readonly [change: string, lines: readonly string[]][] = [
    [one("calls", single, "cost = cost + 1"), [HOURS, TARGETS, BUDGETS]],
    [one("calls", single, "state = 3"), [TARGETS, BUDGETS]],
    [one("calls", single, "held = cost - 1"), [BUDGETS]],
    [one("calls", single, "accounts = NULL"), [CHARGE, BUDGETS]],
    [one("calls", single, "price = NULL"), [PRICES]],
    [one("calls", single, "input = input + 1"), [HOURS]],
    [one("calls", single, `at = at - ${HOUR}`), [HOURS, TARGETS]],
    [one("calls", "calls WHERE tries = 2", "cost = cost + 1"), [COST, HOURS]],
    [`DELETE FROM calls WHERE number = (SELECT number FROM ${single} LIMIT 1)`, [HOURS, TARGETS, BUDGETS]],
    [one("calls", "calls", "request = (SELECT request FROM calls ORDER BY number DESC LIMIT 1)"), [CALLS]],
    [oneCharge("cost = cost + 1"), [COST, TARGETS, BUDGETS]],
    [oneCharge("state = 4"), [CHARGE, TARGETS]],
    ["DELETE FROM charges WHERE n = 3", [CHARGE, COST, TARGETS, BUDGETS]],
    [oneUse("hour", "cost = cost + 1"), [HOURS, TARGETS, DAYS]],
    [oneUse("hour", "reported = reported + 1"), [TARGETS, DAYS]],
    [oneUse("hour", "estimated = estimated + 1"), [TARGETS, DAYS]],
    [oneUse("hour", "assumed = assumed + 1"), [TARGETS, DAYS]],
    [oneUse("hour", "untiered = untiered + 1"), [DAYS]],
    [oneUse("hour", "calls = calls + 1"), [HOURS, DAYS]],
    [oneUse("day", "cost = cost + 1"), [DAYS]],
    [oneUse("day", "assumed = assumed + 1"), [DAYS]],
    [`UPDATE accounts SET spent = spent + 1 WHERE account = '${A}'`, [BUDGETS]],
    [`UPDATE accounts SET assumed = assumed + 1 WHERE account = '${A}'`, [BUDGETS]],
    [`UPDATE accounts SET overrun = overrun + 1 WHERE account = '${A}'`, [BUDGETS]],
    [`UPDATE accounts SET granted = granted + 1 WHERE account = '${A}'`, [GRANTS]],
    [`DELETE FROM accounts WHERE account = '${A}'`, [BUDGETS]],
    ["UPDATE grants SET amount = amount + 1", [GRANTS]],
    ["UPDATE assumptions SET amount = amount + 1", [BUDGETS]],
    [
      "INSERT INTO deleted_charges VALUES ((SELECT id FROM names WHERE kind = 'accounts' AND text <> '[]'), 1, 0, 0)",
      [BUDGETS],
    ],
    ["UPDATE budgets SET limit_nano = 1 WHERE id = 'a'", [LIMITS]],
    ["UPDATE prices SET rule = '' WHERE ref = 'p1'", [PRICES]],
    ["DELETE FROM prices WHERE ref = 'p1'", [PRICES]],
  ];

  test.each(cases.map(([change, lines]) => [change, lines] as const))("%s", async (change, lines) => {
    const { store, reports } = await kept();
    expect(await failing(reports)).toEqual([]);
    await store.sql.run(change);
    const found = await failing(reports);
    for (const line of lines) expect(found).toContain(line);
  });
});

test("a limit that was lowered by an administrator is no failure of the books", async () => {
  const { store, reports } = await kept();
  await store.saveBudget(budget("a", { limit: 1 }), ACTOR);
  expect(await failing(reports)).toEqual([]);
});

test("a limit that the config lowered is no failure of the books", async () => {
  const { store, reports } = await kept();
  const declared = { keys: [], budgets: [budget("a", { source: "config", limit: 900 * DOLLAR })], rates: [] };
  await store.deleteBudget("a", ACTOR);
  await store.declare(declared, []);
  await store.declare({ ...declared, budgets: [budget("a", { source: "config", limit: 1 })] }, []);
  expect(await failing(reports)).toEqual([]);
  const entries = await reports.auditLog({ limit: 1 });
  expect(entries.entries).toMatchObject([{ actor: "config", action: "change", subject: "budgets/a" }]);
});

test("overruns are listed and do not fail the audit", async () => {
  const { store, reports } = await kept();
  const over = call({ attempts: [attempt({ accounts: [A], held: 100 }, { cost: 150, price: "p1" })] });
  await store.commit(commit({ batches: [batch(99, [over])] }));
  const { holds, checks } = await reports.audit();
  expect(holds).toBe(true);
  expect(checks.at(-1)!.detail).toBe("1 attempt cost $0.00000005 more than was held");
});

test("records that a worker dropped are counted, and the audit names them", async () => {
  const { store, reports } = await kept();
  await store.commit(commit({ batches: [{ ...batch(99, []), dropped: 3 }] }));
  expect(await failing(reports)).toEqual(["no record was dropped"]);
});
