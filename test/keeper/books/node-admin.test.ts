/** What the admin API reads from the books of one node. */
import { expect, test } from "bun:test";
import { NodeAdmin } from "../../../src/keeper/books/node-admin.ts";
import type { Reports } from "../../../src/keeper/books/reports/reports.ts";
import type { Books } from "../../../src/keeper/books/books.ts";
import { budgetOf, declaredOf, openBooks, TestWorker } from "./simulation.ts";

const ONE = "b:one@0";
const BUDGETS = declaredOf([budgetOf({ limit: 1_000_000 })]);


function adminOf(books: Books): NodeAdmin {
  const unused = () => Promise.reject(new Error("not used here"));
  return new NodeAdmin({
    ...{ books, version: "0", isProcess: true, metrics: { keys: false, maxSeries: 100 } },
    upkeep: {
      reports: {} as Reports,
      ...{ info: unused, backup: unused, check: unused, prune: unused, release: unused, close: unused },
    },
  });
}

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
