/** A refusal for good is true, and after a budget was lowered no call passes by its former limit. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KEYS } from "../../../src/keeper/books/returns.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { BookStore } from "../../../src/keeper/store/store.ts";
import type { BooksDown } from "../../../src/ledger/messages.ts";
import { RECORD_FORMAT } from "../../../src/ledger/record.ts";
import { budgetOf, declaredOf, openBooks, SETTINGS, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const ONE = "b:one@0";
const NOTHING = declaredOf([]);
const ACTOR = { actor: "console" };

/** Calls of some workers on a stored budget of 100,000, until it is lowered to 500; each worker has a share. */
async function lowered(workers: number, before: (all: readonly TestWorker[]) => void = () => {}) {
  const opened = await openBooks();
  const { books, clock, store } = opened;
  await store.saveBudget(budgetOf({ limit: 100_000, source: "store" }), ACTOR);
  await books.refresh();
  const all = Array.from({ length: workers }, (_, n) => new TestWorker(books, n + 1, NOTHING));
  await clock.advance(1);
  // The first call gets what it needs, a later one somewhat more.
  for (const worker of [...all, ...all, ...all]) {
    const held = worker.hold([{ account: ONE, need: 10 }]);
    await clock.advance(50);
    expect(await held).toBeUndefined();
    worker.settle(ONE, 10, 10);
    worker.flush();
  }
  await clock.advance(10);
  before(all);
  await store.saveBudget(budgetOf({ limit: 500, source: "store" }), ACTOR);
  await books.refresh();
  return { ...opened, all };
}

/** Each worker makes calls of 10 at once. @returns how many pass */
async function passing(
  workers: readonly TestWorker[],
  calls: number,
  advance: (ms: number) => Promise<void>,
): Promise<number> {
  const held = workers.flatMap((worker) =>
    Array.from({ length: calls }, async () => {
      if (await worker.hold([{ account: ONE, need: 10 }])) return 0;
      worker.settle(ONE, 10, 10);
      return 1;
    }),
  );
  await advance(10_000);
  return (await Promise.all(held)).reduce<number>((sum, one) => sum + one, 0);
}

test.each([1, 2, 4])(
  "no call that begins after a lowered limit was confirmed passes beyond it (%p workers)",
  async (workers) => {
    const { books, clock, all } = await lowered(workers);
    const settled = books.returns.settleAll("one");
    await clock.advance(20);
    expect(await settled).toBeUndefined();
    expect(all.map((worker) => worker.left(ONE))).toEqual(all.map(() => 0));
    expect(await passing(all, 100, (ms) => clock.advance(ms))).toBe(50 - 3 * workers);
    await books.close();
  },
);

test("calls on the way while a limit is lowered are within it, whether or not anybody waits for the confirmation", async () => {
  const { books, clock, all } = await lowered(2);
  expect(await passing(all, 100, (ms) => clock.advance(ms))).toBeLessThanOrEqual(50 - 6);
  await books.close();
});

test("a worker that does not answer is named, and the same question later waits for it", async () => {
  const { books, clock, all } = await lowered(2, ([first]) => first!.disconnect());
  const first = all[0]!;
  const settled = books.returns.settleAll("one");
  await clock.advance(6_000);
  expect(await settled).toContain("a worker of this gateway has not confirmed it");
  const again = books.returns.settleAll("one");
  first.connect(books);
  await clock.advance(50);
  expect(await again).toBeUndefined();
  expect(first.left(ONE)).toBe(0);
  await books.close();
});

test("a recall is answered by the return with its number, and not by one that the worker made on its own", async () => {
  const { books, clock } = await openBooks();
  const heard: BooksDown[] = [];
  const connection = books.connect((message) => heard.push(message));
  connection.receive({ kind: "hello", format: RECORD_FORMAT, life: "life", worker: 1, seq: 0, shares: [] });
  connection.receive({ kind: "declare", declared: declaredOf([budgetOf()]), prices: [], settings: SETTINGS });
  connection.receive({ kind: "ask", number: 1, needs: [{ account: ONE, need: 10 }] });
  await clock.advance(10);
  let isSettled = false;
  const settled = books.returns.settleAll("one").then(() => (isSettled = true));
  await clock.advance(10);
  const recall = heard.find(({ kind }) => kind === "recall") as Extract<BooksDown, { kind: "recall" }>;
  connection.receive({ kind: "return", account: ONE, amount: 1, number: 0 });
  await clock.advance(10);
  expect(isSettled).toBe(false);
  connection.receive({ kind: "return", account: ONE, amount: 1, number: recall.number! });
  await clock.advance(10);
  await settled;
  expect(isSettled).toBe(true);
  await books.close();
});

test("a call is refused as unavailable while a worker that may return enough has not answered", async () => {
  const { books, clock } = await openBooks();
  const declared = declaredOf([budgetOf({ limit: 100 })]);
  const [holder, asking] = [1, 2].map((n) => new TestWorker(books, n, declared)) as [TestWorker, TestWorker];
  await clock.advance(1);
  await holder.hold([{ account: ONE, need: 60 }]);
  holder.settle(ONE, 60, 1);
  holder.disconnect();
  const unsure = asking.hold([{ account: ONE, need: 90 }]);
  await clock.advance(2_000);
  expect(await unsure).toMatchObject([{ account: ONE, unavailable: true }]);
  // What the silent worker has cannot suffice: this refusal is true.
  const certain = asking.hold([{ account: ONE, need: 101 }]);
  await clock.advance(2_000);
  expect((await certain)![0]!.unavailable).toBeUndefined();
  holder.connect(books);
  const later = asking.hold([{ account: ONE, need: 90 }]);
  await clock.advance(2_000);
  expect(await later).toBeUndefined();
  await books.close();
});

test("a call is not refused for what has come back while other calls of its round were decided", async () => {
  const store: BookStore = sqliteStore(":memory:");
  const { books, clock } = await openBooks({ store });
  const two = "b:two@0";
  const declared = declaredOf([budgetOf({ limit: 100 }), budgetOf({ id: "two", name: "two" })]);
  const [holder, asking] = [1, 2].map((n) => new TestWorker(books, n, declared)) as [TestWorker, TestWorker];
  await clock.advance(1);
  await holder.hold([{ account: ONE, need: 60 }]);
  holder.disconnect();
  const draw = store.draw.bind(store);
  store.draw = (draws, isLast) => {
    const isTwo = draws[0]!.account === two;
    if (isTwo && !isLast) return Promise.reject(new Error("the store is busy"));
    if (isTwo) books.accounts!.budgets.get(ONE)!.giveBack(holder.life, 60);
    return draw(draws, isLast);
  };
  const first = asking.hold([{ account: ONE, need: 90 }]);
  const other = asking.hold([{ account: two, need: 10 }]);
  await clock.advance(5_000);
  expect(await other).toBeUndefined();
  expect(await first).toBeUndefined();
  await books.close();
});

test("changed keys are confirmed when each worker has taken over what it was sent before, and not earlier", async () => {
  const { books, clock } = await openBooks();
  const heard: BooksDown[] = [];
  const connect = () => {
    const connection = books.connect((message) => heard.push(message));
    connection.receive({ kind: "hello", format: RECORD_FORMAT, life: "l", worker: 1, seq: 0, shares: [] });
    return connection;
  };
  const connection = connect();
  await clock.advance(10);
  const question = () =>
    heard.find((message) => message.kind === "question") as Extract<BooksDown, { kind: "question" }>;
  let confirmed: unknown = "not yet";
  const settled = books.returns.settleAll(KEYS).then((fault) => (confirmed = fault));
  await clock.advance(1_000);
  expect(confirmed).toBe("not yet");
  connection.receive({ kind: "reply", number: question().number, value: null });
  await clock.advance(10);
  await settled;
  expect(confirmed).toBeUndefined();

  const silent = books.returns.settleAll(KEYS);
  await clock.advance(5_000);
  expect(await silent).toContain(
    "a worker of this gateway has not confirmed it, and may admit calls by what the key was",
  );
  await books.close();
});

test("nothing is confirmed while a worker of before runs that has not come back to the keeper", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-cells-"));
  writeFileSync(join(cells, "1-worker.cells"), "");
  let runs = true;
  const { books, clock } = await openBooks({ cells, isAlive: () => runs });
  for (const what of [KEYS, "one"]) {
    const settled = books.returns.settleAll(what);
    await clock.advance(6_000);
    expect(await settled).toContain("a worker of this gateway has not confirmed it");
  }
  runs = false;
  expect(await books.returns.settleAll(KEYS)).toBeUndefined();
  await books.close();
  rmSync(cells, { recursive: true });
});
