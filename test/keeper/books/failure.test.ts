/** A store that cannot be used for a while: nothing is lost or booked twice, and what was granted is enough to go on. */
import { RECORD_FORMAT } from "../../../src/ledger/record.ts";
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditBooks } from "../../../src/keeper/reports/audit.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { BookStore, Commit } from "../../../src/keeper/store/store.ts";
import { budgetOf, declaredOf, openBooks, TestClock, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const ONE = "b:one@0";

/** A store whose failures the test chooses. */
function failing(
  clock: TestClock,
): BookStore & { fault: Error | undefined; appliesFirst: boolean; rows: number[] } {
  const inner = sqliteStore(":memory:", clock.wall);
  const store = Object.assign(Object.create(inner) as typeof inner, {
    fault: undefined as Error | undefined,
    /** The failure comes after the commit: its outcome is not known. */
    appliesFirst: false,
    rows: [] as number[],
    open: () => inner.open(),
    close: () => inner.close(),
    async commit(commit: Commit) {
      store.rows.push(commit.batches.reduce((sum, { calls }) => sum + calls.length, 0));
      if (store.fault && !store.appliesFirst) throw store.fault;
      await inner.commit(commit);
      if (store.fault) throw store.fault;
    },
    draw(draws: Parameters<BookStore["draw"]>[0]) {
      return store.fault ? Promise.reject(store.fault) : inner.draw(draws);
    },
    policy: () => inner.policy(),
    watch: (events: Parameters<typeof inner.watch>[0]) => inner.watch(events),
    declare: (...args: Parameters<BookStore["declare"]>) => inner.declare(...args),
    accounts: (now: number) => inner.accounts(now),
    positions: () => inner.positions(),
    rates: () => inner.rates(),
    margins: () => inner.margins(),
  });
  // A getter would be read from the copy, which has none of the private members.
  Object.defineProperty(store, "closedBecause", { get: () => inner.closedBecause });
  return store;
}

async function hold(worker: TestWorker, clock: TestClock, need: number) {
  const held = worker.hold([{ account: ONE, need }]);
  await clock.advance(200);
  return held;
}

test.each([false, true])(
  "records wait while the store fails for 30 s, and are booked once (the failure came after the commit: %p)",
  async (appliesFirst) => {
    const clock = new TestClock();
    const store = failing(clock);
    const { books } = await openBooks({ store, clock });
    const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: 100_000 })]));
    await clock.advance(1);
    expect(await hold(worker, clock, 100)).toBeUndefined();
    store.fault = new Error("the disk is full");
    store.appliesFirst = appliesFirst;
    worker.settle(ONE, 100, 60);
    for (let second = 0; second < 30; second++) {
      // What was granted before is enough for these calls.
      expect(await hold(worker, clock, 10)).toBeUndefined();
      worker.settle(ONE, 10, 10);
      worker.flush();
      await clock.advance(800);
    }
    expect(worker.unstored).toBeGreaterThan(0);
    expect(worker.heard.findLast(({ kind }) => kind === "store")).toMatchObject({
      fault: "the disk is full",
    });
    expect(worker.heard.filter(({ kind }) => kind === "report").length).toBe(1);
    store.fault = undefined;
    await clock.advance(20_000);
    expect(worker.unstored).toBe(0);
    expect(worker.heard.findLast(({ kind }) => kind === "store")).toEqual({ kind: "store" });
    expect(await store.accounts(clock.wall())).toMatchObject([{ spent: 360, granted: 0, own: 0 }]);
    await books.close();
  },
);

test("a call that needs a grant while the store is away is refused as unavailable, not as exhausted", async () => {
  const clock = new TestClock();
  const store = failing(clock);
  const { books } = await openBooks({ store, clock });
  const worker = new TestWorker(books, 1, declaredOf([budgetOf()]));
  await clock.advance(1);
  store.fault = new Error("is locked by another process");
  expect(await hold(worker, clock, 10)).toMatchObject([{ account: ONE, unavailable: true }]);
  store.fault = undefined;
  expect(await hold(worker, clock, 10)).toBeUndefined();
  await books.close();
});

test("a commit has at most 500 records of several batches", async () => {
  const clock = new TestClock();
  const store = failing(clock);
  const { books } = await openBooks({ store, clock });
  const workers = [1, 2, 3, 4].map((n) => new TestWorker(books, n, declaredOf([])));
  await clock.advance(1);
  for (const worker of workers) for (let n = 0; n < 3; n++) worker.record(200);
  await clock.advance(1_000);
  expect(store.rows.reduce((sum, rows) => sum + rows, 0)).toBe(2_400);
  expect(Math.max(...store.rows)).toBeLessThanOrEqual(500);
  await books.close();
});

test("a store whose disk is full is reported in one sentence", async () => {
  const clock = new TestClock();
  const store = failing(clock);
  const { books } = await openBooks({ store, clock });
  const worker = new TestWorker(books, 1, declaredOf([]));
  await clock.advance(1);
  store.fault = fullDisk();
  worker.record(1);
  await clock.advance(200);
  expect(worker.heard.flatMap((message) => (message.kind === "report" ? message.text : []))).toEqual([
    "records of calls wait: the store cannot be written: the disk is full",
  ]);
  expect(books.reporter.fault).toBe("the store cannot be written: the disk is full");
  store.fault = undefined;
  await clock.advance(2_000);
  worker.end();
  await books.close();
});

/** What SQLite throws when there is no room for another page. */
function fullDisk(): Error {
  const database = new Database(":memory:");
  try {
    database.run("CREATE TABLE big (bytes BLOB)");
    database.run("PRAGMA max_page_count = 4");
    database.run("INSERT INTO big VALUES (zeroblob(1000000))");
    throw new TypeError("SQLite had room");
  } catch (fault) {
    return fault as Error;
  } finally {
    database.close();
  }
}

test("records that the store refuses for good are set aside with a sentence, and nothing else is lost or waits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-refused-"));
  const refused = join(folder, "refused.jsonl");
  const clock = new TestClock();
  const store = sqliteStore(":memory:", clock.wall);
  const { books } = await openBooks({ store, clock, refused });
  const dropped: number[] = [];
  books.observers.add({
    refused: ({ batches }) => void dropped.push(...batches.map(({ calls }) => calls.length)),
  });
  const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: 100_000 })]));
  await clock.advance(1);
  expect(await hold(worker, clock, 100)).toBeUndefined();
  worker.record(2);
  worker.settle(ONE, 100, 60);
  worker.record(3, { status: "no number" as never });
  worker.record(4);
  await clock.advance(2_000);
  expect(worker.unstored).toBe(0);
  worker.record(5);
  await clock.advance(2_000);
  const [rows] = await store.sql.all<{ calls: number }>("SELECT count(*) AS calls FROM calls");
  expect(rows).toEqual({ calls: 11 });
  expect(dropped).toEqual([3]);
  expect(await store.accounts(clock.wall())).toMatchObject([{ spent: 60 }]);
  const { checks } = await auditBooks(store.sql);
  expect(checks.find(({ name }) => name === "no record was dropped")).toMatchObject({
    holds: false,
    detail: expect.stringContaining("3 records were dropped"),
  });
  const reports = worker.heard.flatMap((message) => (message.kind === "report" ? message.text : []));
  const sentence = reports.filter((text) => text.includes("refuses"));
  expect(sentence).toEqual([
    expect.stringMatching(
      /^the store refuses 3 records of calls \(.+\); budgets count them, and they are in /,
    ),
  ]);
  const [line, ...others] = readFileSync(refused, "utf8").trim().split("\n");
  const { commit } = JSON.parse(line!) as { commit: Commit };
  expect([others.length, commit.batches[0]!.calls.length]).toEqual([0, 3]);
  expect(statSync(refused).mode & 0o777).toBe(0o600);
  await books.close();
  rmSync(folder, { recursive: true, force: true });
});

test("amounts that the store refuses for good are set aside with a sentence, and later commits are written", async () => {
  const clock = new TestClock();
  const store = failing(clock);
  const { books } = await openBooks({ store, clock });
  const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: 100_000 })]));
  await clock.advance(1);
  expect(await hold(worker, clock, 100)).toBeUndefined();
  store.fault = new TypeError("a value that no column takes");
  worker.settle(ONE, 100, 60);
  worker.flush();
  await clock.advance(2_000);
  store.fault = undefined;
  expect(worker.unstored).toBe(0);
  const reports = worker.heard.flatMap((message) => (message.kind === "report" ? message.text : []));
  expect(reports).toContain(
    "the store refuses amounts of budgets (a value that no column takes); budgets do not count them, and they are lost",
  );
  worker.record(1);
  await clock.advance(2_000);
  expect(worker.unstored).toBe(0);
  expect(worker.heard.findLast(({ kind }) => kind === "store")).toEqual({ kind: "store" });
  await books.close();
});

test("the records of a worker of a newer version are refused by name, and other workers go on", async () => {
  const clock = new TestClock();
  const store = sqliteStore(":memory:", clock.wall);
  const { books } = await openBooks({ store, clock });
  const declared = declaredOf([budgetOf({ limit: 100_000 })]);
  const worker = new TestWorker(books, 1, declared);
  const newer = new TestWorker(books, 2, declared, undefined, RECORD_FORMAT + 1);
  await clock.advance(1);
  newer.record(3);
  worker.record(2);
  await clock.advance(2_000);
  expect([worker.unstored, newer.unstored]).toEqual([0, 1]);
  const formats = `format ${RECORD_FORMAT + 1}; this version reads ${RECORD_FORMAT}`;
  const why = `the records of worker 2 are written by a newer version of weir (${formats})`;
  expect(newer.heard).toContainEqual({ kind: "store", fault: why });
  expect(worker.heard).toContainEqual({
    ...{ kind: "report", level: "fault" },
    text: `${why}; weir does not take them: restart it`,
  });
  const [rows] = await store.sql.all<{ calls: number }>("SELECT count(*) AS calls FROM calls");
  expect(rows).toEqual({ calls: 2 });
  await books.close();
});

test("a keeper names the memory of a worker of another version, and assumes what the worker held", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-foreign-"));
  const clock = new TestClock();
  const store = sqliteStore(":memory:", clock.wall);
  const first = await openBooks({ store, clock, cells: folder });
  const declared = declaredOf([budgetOf({ limit: 100_000 })]);
  const worker = new TestWorker(first.books, 1, declared, folder);
  await clock.advance(1);
  expect(await hold(worker, clock, 100)).toBeUndefined();
  first.kill();
  worker.kill();
  const file = worker.cells.file!;
  writeFileSync(file, readFileSync(file).fill("weir cells 1", 0, 13));
  const { books } = await openBooks({ store, clock, cells: folder, isAlive: () => false });
  const other = new TestWorker(books, 2, declared, folder);
  await clock.advance(1_000);
  expect(other.heard).toContainEqual({
    ...{ kind: "report", level: "fault" },
    text: `${file} was written by another version of weir: what its worker held is assumed, and its last records are not read`,
  });
  const [row] = await store.accounts(clock.wall());
  expect(row!.assumed).toBeGreaterThanOrEqual(100);
  await books.close();
  rmSync(folder, { recursive: true, force: true });
});
