/** What the admin API reads from the books of one node. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeAdmin } from "../../src/admin/node-admin.ts";
import type { Reports } from "../../src/keeper/reports/reports.ts";
import type { Books } from "../../src/keeper/books/books.ts";
import { budgetOf, declaredOf, openBooks, TestWorker } from "../keeper/books/simulation.ts";

setDefaultTimeout(120_000);

const ONE = "b:one@0";
const BUDGETS = declaredOf([budgetOf({ limit: 1_000_000 })]);

const folder = mkdtempSync(join(tmpdir(), "weir-node-admin-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function adminOf(books: Books): NodeAdmin {
  const unused = () => Promise.reject(new Error("not used here"));
  return new NodeAdmin({
    ...{ books, version: "0", isProcess: true, metrics: { keys: false, maxSeries: 100 } },
    offers: {},
    upkeep: {
      reports: {} as Reports,
      ...{
        info: unused,
        backup: unused,
        check: unused,
        prune: unused,
        openKeys: unused,
        release: unused,
        close: unused,
      },
    },
  });
}

test("what workers are granted and do not use is not held", async () => {
  const { books, clock } = await openBooks({ cells: folder });
  const admin = adminOf(books);
  const worker = new TestWorker(books, 1, BUDGETS, folder);
  await clock.advance(1);
  const held = worker.hold([{ account: ONE, need: 300 }]);
  await clock.advance(1);
  expect(await held).toBeUndefined();
  const [running] = await admin.accounts();
  expect(running!.held).toBe(300);
  expect(running!.granted).toBeGreaterThan(300);
  worker.settle(ONE, 300, 200);
  worker.flush();
  await clock.advance(100);
  const [ended] = await admin.accounts();
  expect([ended!.spent, ended!.held]).toEqual([200, 0]);
  expect(ended!.granted).toBeGreaterThan(0);
  worker.kill();
  await books.close();
});

test("prices are those that the config declares after a reload", async () => {
  const { books, clock } = await openBooks();
  const admin = adminOf(books);
  const worker = new TestWorker(books, 1, BUDGETS);
  const priceOf = async () => (await admin.prices({ q: "host/small", limit: 10 })).prices[0]?.input;
  for (const [dollars, picos] of [
    [1, 1_000_000],
    [3, 3_000_000],
  ] as const) {
    worker.declare(BUDGETS, { "host/small": { input: dollars, output: 2 } });
    await clock.advance(1);
    expect(await priceOf()).toBe(picos);
  }
  worker.kill();
  await books.close();
});

test("prices of named models are also those that a pattern of the config sets", async () => {
  const { books, clock } = await openBooks();
  const admin = adminOf(books);
  const worker = new TestWorker(books, 1, BUDGETS);
  worker.declare(BUDGETS, { "ollama/*": 0, "host/small": { input: 1, output: 2 } });
  await clock.advance(1);
  const of = ["ollama/llama/8b", "host/unknown", "host/small"];
  const { prices } = await admin.prices({ of, limit: 1 });
  expect(prices.map(({ provider, model, input }) => [provider, model, input])).toEqual([
    ["ollama", "llama/8b", 0],
    ["host", "small", 1_000_000],
  ]);
  worker.kill();
  await books.close();
});
