/** Tables of features in a file, and what the log and the metrics say of rows that are lost. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeAdmin } from "../../../src/admin/node-admin.ts";
import { openBooks } from "../../../src/keeper/books/index.ts";
import { Reporter } from "../../../src/keeper/books/reporter.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { BooksDown } from "../../../src/ledger/messages.ts";
import { until } from "../../helpers/serving.ts";
import { describeFeatures, writing } from "./feature-suite.ts";
import { NOW } from "./make.ts";
import { declaredOf, TestClock, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-features-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

describeFeatures(
  async (tables, path = IN_MEMORY) => {
    const store = sqliteStore(path, () => NOW, tables);
    await store.open();
    return store;
  },
  async () => join(folder, `${files++}.db`),
);

const reportsIn = (heard: readonly BooksDown[]) =>
  heard.flatMap((message) => (message.kind === "report" ? [message.text] : []));

test("rows that a feature cannot write are a line in the log and a counter, and records are stored", async () => {
  const fails = writing(() => Promise.reject(new Error("out of words")));
  const settings = { url: IN_MEMORY, cluster: false, syncMs: 0, leaseMs: 1_000 };
  const { keeper, books, upkeep, host } = await openBooks(settings, [fails]);
  const options = { books, upkeep, offers: host.offers, version: "0", isProcess: false };
  const admin = new NodeAdmin({ ...options, metrics: { keys: false, maxSeries: 1_000 } });
  keeper.open();
  await books.opened;
  const worker = new TestWorker(books, 1, declaredOf([]));
  const stored = async (count: number) => (await upkeep.reports.calls({ limit: 9 })).calls.length === count;
  for (const count of [1, 2, 3]) {
    worker.record(1);
    await until(() => stored(count));
  }
  expect(reportsIn(worker.heard)).toEqual([
    "1 call has no rows in the tables of other: out of words; records and charges of calls are in the books",
  ]);
  expect(admin.metrics()).toContain('weir_feature_rows_lost_total{feature="other"} 3\n');
  expect((await upkeep.reports.audit()).holds).toBeTrue();
  await keeper.close();
});

test("the log has at most one line a minute about a feature, with all calls since the line before", async () => {
  const clock = new TestClock();
  const heard: BooksDown[] = [];
  const reporter = new Reporter(clock, () => {});
  reporter.connected((message) => void heard.push(message));
  const lose = (feature: string) => reporter.lost({ feature, calls: 2, cause: new Error("broken") });
  for (let second = 0; second < 61; second++) {
    lose("words");
    await clock.advance(1_000);
  }
  lose("other");
  expect(reportsIn(heard).map((text) => text.split(":")[0])).toEqual([
    "2 calls have no rows in the tables of words",
    "120 calls have no rows in the tables of words",
    "2 calls have no rows in the tables of other",
  ]);
});
