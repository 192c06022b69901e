/** Changes of budgets while calls run: limits, windows, modes and alerts. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { Budget } from "../../../src/ledger/policy.ts";
import { windowAt } from "../../../src/ledger/windows.ts";
import { budgetOf, declaredOf, openBooks, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const ONE = "b:one@0";
const ACTOR = { actor: "cli" };

test("a raised limit admits the next call, a lowered one refuses it, and workers hear of both", async () => {
  const { books, clock, store } = await openBooks();
  const budget = budgetOf({ source: "store", limit: 100 });
  await store.saveBudget(budget, ACTOR);
  await books.refresh();
  const worker = new TestWorker(books, 1, declaredOf([]));
  await clock.advance(1);
  const hold = async (need: number) => {
    const held = worker.hold([{ account: ONE, need }]);
    await clock.advance(200);
    return (await held) === undefined;
  };
  expect([await hold(100), await hold(50)]).toEqual([true, false]);
  await store.saveBudget({ ...budget, limit: 1_000 }, ACTOR);
  await books.refresh();
  await clock.advance(1);
  expect(worker.heard.at(-1)).toMatchObject({ kind: "changes", upserts: { budgets: [{ limit: 1_000 }] } });
  expect(await hold(50)).toBe(true);
  worker.settle(ONE, 50, 50);
  worker.flush();
  await store.saveBudget({ ...budget, limit: 120 }, ACTOR);
  await books.refresh();
  await clock.advance(300);
  expect(worker.left(ONE)).toBe(0);
  expect(await hold(1)).toBe(false);
  await store.deleteBudget("one", ACTOR);
  await books.refresh();
  await clock.advance(1);
  expect(worker.heard.findLast(({ kind }) => kind === "changes")).toMatchObject({ removed: ["one"] });
  await books.close();
});

test("a window that ends while a call runs keeps its hold and its cost", async () => {
  const { books, clock, store } = await openBooks();
  const budget = budgetOf({ window: "day", limit: 100 });
  const today = windowAt(budget, clock.wall());
  const worker = new TestWorker(books, 1, declaredOf([budget]));
  await clock.advance(1);
  const [old, fresh] = [`b:one@${today.startsAt}`, `b:one@${today.endsAt}`];
  const held = worker.hold([{ account: old, need: 100 }]);
  await clock.advance(200);
  expect(await held).toBeUndefined();
  clock.jump += 86_400_000;
  const next = worker.hold([{ account: fresh, need: 100 }]);
  await clock.advance(200);
  expect(await next).toBeUndefined();
  worker.settle(old, 100, 60);
  worker.settle(fresh, 100, 70);
  worker.flush();
  await clock.advance(30_000);
  const rows = await store.accounts(today.startsAt);
  expect(rows.map(({ account, spent, granted }) => [account, spent, granted])).toEqual([
    [old, 60, 0],
    [fresh, 70, 0],
  ]);
  await books.close();
});

test("a watched budget never refuses, and a soft one exceeds its limit by running calls only", async () => {
  const { books, clock, store } = await openBooks();
  const budgets: Budget[] = [
    budgetOf({ id: "watched", mode: "watch", limit: 10 }),
    budgetOf({ id: "soft", mode: "soft", limit: 100 }),
  ];
  const worker = new TestWorker(books, 1, declaredOf(budgets));
  await clock.advance(1);
  for (let n = 0; n < 5; n++) worker.settle("b:watched@0", 0, 10);
  const soft = worker.hold([{ account: "b:soft@0", need: 1 }]);
  await clock.advance(200);
  expect(await soft).toBeUndefined();
  worker.settle("b:soft@0", 1, 130);
  worker.flush();
  await clock.advance(200);
  const refused = worker.hold([{ account: "b:soft@0", need: 1 }]);
  await clock.advance(200);
  expect(await refused).toMatchObject([{ account: "b:soft@0", left: 0 }]);
  await clock.advance(30_000);
  const rows = await store.accounts(clock.wall());
  expect(rows.map(({ account, spent, granted, own }) => [account, spent, granted, own])).toEqual([
    ["b:soft@0", 130, 0, 0],
    ["b:watched@0", 50, 0, 0],
  ]);
  await books.close();
});

test("each percentage of a budget is reported once, over workers and restarts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-alerts-"));
  const path = join(folder, "weir.db");
  const declared = declaredOf([budgetOf({ name: "eng", limit: 100, alerts: [80, 100] })]);
  const reports: string[] = [];
  const spend = async (opened: Awaited<ReturnType<typeof openBooks>>, n: number, costs: number[]) => {
    const worker = new TestWorker(opened.books, n, declared);
    await opened.clock.advance(1);
    for (const cost of costs) {
      const held = worker.hold([{ account: ONE, need: cost }]);
      await opened.clock.advance(200);
      expect(await held).toBeUndefined();
      worker.settle(ONE, cost, cost);
      worker.flush();
      await opened.clock.advance(200);
    }
    worker.end();
    for (const message of worker.heard) if (message.kind === "report") reports.push(message.text);
  };
  const first = await openBooks({ store: sqliteStore(path) });
  await spend(first, 1, [70, 12]);
  await spend(first, 2, [3]);
  const closed = first.books.close();
  await first.clock.advance(3_000);
  await closed;
  const next = await openBooks({ store: sqliteStore(path), clock: first.clock });
  await spend(next, 3, [5, 10]);
  expect(reports).toEqual([
    'the budget "eng" has reached 80 % of $0.0000001',
    'the budget "eng" has reached 100 % of $0.0000001',
  ]);
  const last = next.books.close();
  await next.clock.advance(3_000);
  await last;
  rmSync(folder, { recursive: true, force: true });
});

test("a draw before the commit of what was spent changes neither the figures nor the alerts", async () => {
  const { books, clock, store } = await openBooks();
  const declared = declaredOf([budgetOf({ name: "eng", limit: 1_000, alerts: [80] })]);
  const worker = new TestWorker(books, 1, declared);
  const other = new TestWorker(books, 2, declared);
  await clock.advance(1);
  const hold = async (of: TestWorker, need: number) => {
    const held = of.hold([{ account: ONE, need }]);
    await clock.advance(10);
    expect(await held).toBeUndefined();
  };
  await hold(worker, 1);
  worker.settle(ONE, 1, 0);
  for (let round = 1; round <= 9; round++) {
    await hold(worker, 90);
    worker.settle(ONE, 90, 90);
    worker.flush();
    // Its need is above what the node has left, so the node draws before the next commit.
    await hold(other, 10);
    other.settle(ONE, 10, 0);
    await clock.advance(1);
    const { spent } = books.accounts!.budgets.get(ONE)!.row;
    expect([round, spent]).toEqual([round, round * 90]);
  }
  await clock.advance(5_000);
  const [row] = await store.accounts(clock.wall());
  expect(row).toMatchObject({ spent: 810, alerted: 80 });
  const { spent, granted, alerted } = books.accounts!.budgets.get(ONE)!.row;
  expect({ spent, granted, alerted }).toEqual({ spent: row!.spent, granted: row!.granted, alerted: 80 });
  const alerts = [worker, other].flatMap(({ heard }) => heard.filter(({ kind }) => kind === "report"));
  expect(alerts.length).toBe(1);
  await books.close();
});

test("keys of the store with the name of a key of the config are reported once by their id, revoked ones are not", async () => {
  const { books, clock, store } = await openBooks();
  const key = { kind: "call", path: "/", tags: [], digests: [], scopes: {} } as const;
  await store.saveKey({ ...key, id: "key_one", name: "alice" }, ACTOR);
  await store.saveKey({ ...key, id: "key_old", name: "alice", revokedAt: 1 }, ACTOR);
  await store.saveKey({ ...key, id: "key_two", name: "bob" }, ACTOR);
  await books.refresh();
  const declared = { ...declaredOf([]), keys: [{ ...key, id: "config:alice", name: "alice" }] };
  const worker = new TestWorker(books, 1, declared);
  await clock.advance(1);
  const reports = () => worker.heard.flatMap((message) => (message.kind === "report" ? message.text : []));
  const sentence =
    'the key "alice" is in the config and in the store (key_one); the name stands for the key of the config, so rename or revoke the other one by its id';
  expect(reports()).toEqual([sentence]);
  await store.saveKey({ ...key, id: "key_three", name: "carol" }, ACTOR);
  await books.refresh();
  await clock.advance(1);
  expect(reports()).toEqual([sentence]);
  await books.close();
});
