/** What workers are granted, returned and refused. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { budgetOf, declaredOf, openBooks, TestClock, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const ONE = "b:one@0";

test("a budget is used to the last unit over four workers, and then refuses with the amounts", async () => {
  const { books, clock, store } = await openBooks();
  const declared = declaredOf([budgetOf({ limit: 1_000 })]);
  const workers = [1, 2, 3, 4].map((n) => new TestWorker(books, n, declared));
  await clock.advance(1);
  let passed = 0;
  const refusals: unknown[] = [];
  const calls = Array.from({ length: 1_000 }, async (_, n) => {
    const worker = workers[n % 4]!;
    const refused = await worker.hold([{ account: ONE, need: 10 }]);
    if (refused) return void refusals.push(...refused);
    passed++;
    worker.settle(ONE, 10, 10);
    if (n % 7 === 0) worker.flush();
  });
  await clock.advance(5_000);
  await Promise.all(calls);
  expect(passed).toBe(100);
  expect(refusals.length).toBe(900);
  expect(refusals[0]).toMatchObject({ account: ONE, limit: 1_000 });
  for (const worker of workers) worker.flush();
  await clock.advance(20_000);
  expect(await store.accounts(clock.wall())).toMatchObject([
    { account: ONE, spent: 1_000, assumed: 0, granted: 0 },
  ]);
  await books.close();
});

test("what another worker does not hold is recalled before a call is refused", async () => {
  const { books, clock } = await openBooks();
  const declared = declaredOf([budgetOf({ limit: 100 })]);
  const [first, second] = [1, 2].map((n) => new TestWorker(books, n, declared)) as [TestWorker, TestWorker];
  await clock.advance(1);
  expect(await first.hold([{ account: ONE, need: 1 }])).toBeUndefined();
  const all = second.hold([{ account: ONE, need: 99 }]);
  await clock.advance(200);
  expect(await all).toBeUndefined();
  const more = second.hold([{ account: ONE, need: 1 }]);
  await clock.advance(200);
  expect(await more).toMatchObject([{ account: ONE, limit: 100, left: 0 }]);
  await books.close();
});

test("a call that falls under several budgets gets all or nothing of them", async () => {
  const { books, clock } = await openBooks();
  const declared = declaredOf([budgetOf({ limit: 100 }), budgetOf({ id: "two", name: "two", limit: 10 })]);
  const worker = new TestWorker(books, 1, declared);
  await clock.advance(1);
  const needs = (need: number) => [
    { account: ONE, need },
    { account: "b:two@0", need },
  ];
  const refused = worker.hold(needs(50));
  await clock.advance(200);
  expect(await refused).toMatchObject([{ account: "b:two@0" }]);
  const passes = worker.hold(needs(10));
  await clock.advance(200);
  expect(await passes).toBeUndefined();
  const alone = worker.hold([{ account: ONE, need: 90 }]);
  await clock.advance(200);
  expect(await alone).toBeUndefined();
  await books.close();
});

test("the rest of an idle share returns to the store after ten seconds", async () => {
  const { books, clock, store } = await openBooks();
  const worker = new TestWorker(books, 1, declaredOf([budgetOf()]));
  await clock.advance(1);
  await worker.hold([{ account: ONE, need: 5 }]);
  worker.settle(ONE, 5, 5);
  worker.flush();
  await clock.advance(100);
  expect((await store.accounts(clock.wall()))[0]!.granted).toBeGreaterThan(0);
  await clock.advance(25_000);
  expect(await store.accounts(clock.wall())).toMatchObject([{ spent: 5, granted: 0, own: 0 }]);
  expect(worker.left(ONE)).toBe(0);
  await books.close();
});

test("what is drawn ahead is a few calls, also at a high pace, and what no call needs for a second returns", async () => {
  const { books, clock, store } = await openBooks();
  const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: 1_000_000 })]));
  await clock.advance(1);
  const granted = async () => (await store.accounts(clock.wall()))[0]!.granted;
  // A hundred calls at once hold 5,000, and cost 500 together.
  const burst = Array.from({ length: 100 }, () => worker.hold([{ account: ONE, need: 50 }]));
  await clock.advance(100);
  await Promise.all(burst);
  expect(await granted()).toBeLessThanOrEqual(5_000 + 16 * 50);
  for (let at = 0; at < 100; at++) worker.settle(ONE, 50, 5);
  worker.flush();
  await clock.advance(100);
  // The worker gives back what its calls do not need, and goes on with one call after the other.
  const left = worker.left(ONE);
  worker.giveBack(ONE, left - 60);
  for (let at = 0; at < 30; at++) {
    expect(await worker.hold([{ account: ONE, need: 50 }])).toBeUndefined();
    worker.settle(ONE, 50, 0);
    worker.flush();
    await clock.advance(100);
  }
  expect(await granted()).toBeLessThanOrEqual(100);
  await books.close();
});

test("a call that cost more than its hold is booked, and the next draw knows it", async () => {
  const { books, clock, store } = await openBooks();
  const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: 100 })]));
  await clock.advance(1);
  const first = worker.hold([{ account: ONE, need: 90 }]);
  await clock.advance(100);
  expect(await first).toBeUndefined();
  worker.settle(ONE, 90, 120);
  worker.flush();
  await clock.advance(1_000);
  expect(await store.accounts(clock.wall())).toMatchObject([{ spent: 120, overrun: 30, granted: 0, own: 0 }]);
  const second = worker.hold([{ account: ONE, need: 1 }]);
  await clock.advance(200);
  expect(await second).toMatchObject([{ limit: 100, left: 0 }]);
  await books.close();
});

test("a worker that dies while it waits for a grant takes nothing with it", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-grants-"));
  onTestFinished(() => rmSync(cells, { recursive: true, force: true }));
  const dead = new Set<string | undefined>();
  const { books, clock, store } = await openBooks({ cells, isAlive: (file) => !dead.has(file) });
  const declared = declaredOf([budgetOf({ limit: 100 })]);
  const [silent, dying, last] = [1, 2, 3].map((n) => new TestWorker(books, n, declared, cells)) as [
    TestWorker,
    TestWorker,
    TestWorker,
  ];
  await clock.advance(1);
  const first = silent.hold([{ account: ONE, need: 50 }]);
  await clock.advance(1);
  expect(await first).toBeUndefined();
  silent.drop();
  // The keeper waits for what the silent worker has left.
  void dying.hold([{ account: ONE, need: 99 }]);
  await clock.advance(10);
  dead.add(dying.cells.file);
  dying.kill();
  await clock.advance(10);
  silent.connect(books);
  silent.settle(ONE, 50, 0);
  silent.end();
  await clock.advance(200);
  const all = last.hold([{ account: ONE, need: 100 }]);
  await clock.advance(500);
  expect(await all).toBeUndefined();
  last.settle(ONE, 100, 100);
  last.flush();
  await clock.advance(20_000);
  expect(await store.accounts(clock.wall())).toMatchObject([{ spent: 100, assumed: 0, granted: 0 }]);
  await books.close();
});

test("a worker that has spent all of its share tells the next keeper, which assumes nothing", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-grants-"));
  onTestFinished(() => rmSync(cells, { recursive: true, force: true }));
  const clock = new TestClock();
  const path = join(cells, "weir.db");
  const open = () => openBooks({ clock, cells, store: sqliteStore(path, clock.wall), isAlive: () => true });
  const first = await open();
  const worker = new TestWorker(first.books, 1, declaredOf([budgetOf({ limit: 100 })]), cells);
  await clock.advance(1);
  const all = worker.hold([{ account: ONE, need: 100 }]);
  await clock.advance(100);
  expect(await all).toBeUndefined();
  worker.settle(ONE, 100, 100);
  first.kill();
  worker.disconnect();
  await first.store.close();
  const next = await open();
  worker.connect(next.books);
  await clock.advance(10_000);
  expect(await next.store.accounts(clock.wall())).toMatchObject([
    { spent: 100, assumed: 0, granted: 0, own: 0 },
  ]);
  await next.books.close();
});

test("a grant that a killed keeper did not deliver is free, unless a worker has died too", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-grants-"));
  onTestFinished(() => rmSync(cells, { recursive: true, force: true }));
  for (const dies of [false, true]) {
    const clock = new TestClock();
    const path = join(cells, `${dies}.db`);
    const folder = join(cells, String(dies));
    mkdirSync(folder);
    const dead = new Set<string | undefined>();
    const isAlive = (file: string | undefined) => !dead.has(file);
    const open = () => openBooks({ clock, cells: folder, store: sqliteStore(path, clock.wall), isAlive });
    const first = await open();
    const declared = declaredOf([budgetOf({ limit: 100 })]);
    const workers = [1, 2].map((n) => new TestWorker(first.books, n, declared, folder));
    const [worker, other] = workers as [TestWorker, TestWorker];
    await clock.advance(1_000);
    void worker.hold([{ account: ONE, need: 60 }]);
    // What the keeper sends from here on does not arrive.
    worker.disconnect();
    await clock.advance(10);
    expect((await first.store.accounts(clock.wall()))[0]!.granted).toBeGreaterThan(0);
    first.kill();
    for (const one of workers) one.disconnect();
    await first.store.close();
    if (dies) dead.add(other.cells.file);
    // One that is killed before the workers are back.
    const second = await open();
    second.kill();
    await second.store.close();
    const next = await open();
    worker.connect(next.books);
    if (!dies) other.connect(next.books);
    await clock.advance(30_000);
    const [row] = await next.store.accounts(clock.wall());
    expect([dies, row!.assumed > 0]).toEqual([dies, dies]);
    await next.books.close();
  }
});

test("what was assumed for a worker that comes back late is not counted twice", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-grants-"));
  onTestFinished(() => rmSync(cells, { recursive: true, force: true }));
  const clock = new TestClock();
  const path = join(cells, "weir.db");
  const open = () => openBooks({ clock, cells, store: sqliteStore(path, clock.wall), isAlive: () => true });
  const first = await open();
  const worker = new TestWorker(first.books, 1, declaredOf([budgetOf({ limit: 100 })]), cells);
  await clock.advance(1);
  const held = worker.hold([{ account: ONE, need: 60 }]);
  const others = worker.hold([{ account: ONE, need: 40 }]);
  await clock.advance(200);
  expect(await Promise.all([held, others])).toEqual([undefined, undefined]);
  worker.settle(ONE, 40, 30);
  first.kill();
  worker.disconnect();
  await first.store.close();
  const next = await open();
  await clock.advance(8_000);
  expect(await next.store.accounts(clock.wall())).toMatchObject([{ spent: 0, assumed: 100, granted: 0 }]);
  worker.connect(next.books);
  await clock.advance(200);
  expect(await next.store.accounts(clock.wall())).toMatchObject([{ spent: 30, assumed: 0, granted: 70 }]);
  worker.settle(ONE, 60, 20);
  worker.flush();
  await clock.advance(25_000);
  expect(await next.store.accounts(clock.wall())).toMatchObject([
    { spent: 50, assumed: 0, granted: 0, own: 0 },
  ]);
  await next.books.close();
});

test("a call in place of one that had ended with its worker takes what was assumed for it, also of a budget that is used up", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-again-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const alive = new Set<string>();
  const { books, clock, store } = await openBooks({ cells: folder, isAlive: (file) => alive.has(file!) });
  const declared = declaredOf([budgetOf({ limit: 100 })]);
  const [first, second] = [1, 2].map((n) => new TestWorker(books, n, declared, folder)) as [
    TestWorker,
    TestWorker,
  ];
  for (const { cells } of [first, second]) alive.add(cells.file!);
  await clock.advance(1);
  const hold = async (asked: Promise<unknown>) => (await clock.advance(3_000), asked);
  expect(await hold(first.hold([{ account: ONE, need: 60 }]))).toBeUndefined();
  expect(await hold(second.hold([{ account: ONE, need: 40 }]))).toBeUndefined();
  alive.delete(first.cells.file!);
  first.kill();
  await clock.advance(1_000);
  const row = async () => (await store.accounts(clock.wall()))[0];
  expect(await row()).toMatchObject({ assumed: 60, granted: 40 });
  expect(await hold(second.hold([{ account: ONE, need: 50 }]))).toMatchObject([{ account: ONE, left: 0 }]);
  expect(await hold(second.holdAgain(ONE, 50))).toBeUndefined();
  expect(await row()).toMatchObject({ assumed: 10, granted: 90 });
  // What is not assumed is of the budget, which has nothing left; and then it is assumed as before.
  expect(await hold(second.holdAgain(ONE, 50))).toMatchObject([{ account: ONE }]);
  await clock.advance(1_000);
  expect(await row()).toMatchObject({ assumed: 10, granted: 90 });
  second.settle(ONE, 50, 50);
  second.settle(ONE, 40, 40);
  second.flush();
  await clock.advance(20_000);
  expect(await row()).toMatchObject({ spent: 90, assumed: 10, granted: 0 });
  await books.close();
});
