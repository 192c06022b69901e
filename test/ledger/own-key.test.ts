/** What the worker answers about the key of a client. */
import { expect, jest, test } from "bun:test";
import { budget, principal, rate, testLedger } from "../helpers/ledger.ts";

const UNREADABLE = { kind: "overloaded", code: "ledger_unavailable" };

test("figures of a key that cannot be read within two seconds are a 503", async () => {
  const { ledger, keeper } = testLedger();
  let silent: unknown;
  jest.useFakeTimers();
  try {
    const described = ledger.describeKey(principal("k")).catch((error: unknown) => void (silent = error));
    jest.advanceTimersByTime(1_990);
    await new Promise(setImmediate);
    expect(silent).toBeUndefined();
    jest.advanceTimersByTime(20);
    await described;
  } finally {
    jest.useRealTimers();
  }
  expect(silent).toMatchObject(UNREADABLE);
  expect(keeper.sent.filter(({ kind }) => kind === "query")).toHaveLength(1);
  const failed = ledger.describeKey(principal("k")).catch((error: unknown) => error);
  keeper.tell({ kind: "answer", number: 2, error: "the store is not open" });
  expect(await failed).toMatchObject(UNREADABLE);
  expect(String(await failed)).not.toContain("not open");
});

test("a question that the keeper has not answered is asked again when the keeper is back", async () => {
  const { ledger, keeper } = testLedger();
  keeper.disconnect();
  const described = ledger.describeKey(principal("k"));
  keeper.connect();
  expect(keeper.sent.at(-1)).toMatchObject({ kind: "query", number: 1, key: "k" });
  keeper.tell({ kind: "answer", number: 1, value: { accounts: [], from: 0, models: [] } });
  expect(await described).toMatchObject({ id: "k", budgets: [], usage: { models: [] } });
});

test("where clients must not see amounts of budgets, their names and windows remain", async () => {
  const on = { kind: "key", what: "k" } as const;
  const { ledger, keeper } = testLedger({
    budgets: [budget("own", 1e9, { on, window: "day" }), budget("watched", 1e9, { mode: "watch" })],
    rates: [rate("few", { rpm: 5 }), rate("own-few", { rpm: 3 }, { on })],
    settings: { tell: false },
  });
  const described = ledger.describeKey(principal("k"));
  const accounts = ["r:few:rpm", "r:own-few:rpm"].map((account) => ({ account, held: 0, left: 2 }));
  keeper.tell({ kind: "answer", number: 1, value: { accounts, from: 0, models: [] } });
  const { budgets, limits } = await described;
  expect(budgets).toEqual([
    { name: "own", on: "key", window: "day", zone: "UTC", resets_at: expect.any(String) },
  ]);
  expect(limits).toEqual([
    { name: "few", on: "all", unit: "rpm", limit: 5 },
    { name: "own-few", on: "key", unit: "rpm", limit: 3, left: 2 },
  ]);
});

test("a client that asks often causes one question to the keeper at a time", async () => {
  const { ledger, keeper } = testLedger();
  const asked = [principal("k"), principal("k"), principal("k")].map((key) => ledger.describeKey(key));
  keeper.tell({ kind: "answer", number: 1, value: { accounts: [], from: 0, models: [] } });
  await Promise.all(asked);
  expect(keeper.sent.filter(({ kind }) => kind === "query")).toHaveLength(1);
});
