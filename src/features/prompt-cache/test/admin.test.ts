/** The operations of the admin API on caches: where they are in the document, and what they answer. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { batch, commit, NOW } from "../../../../test/keeper/books/make.ts";
import { fakeAdmin, OPERATIONS } from "../../../../test/helpers/admin.ts";
import { COLUMNS } from "../../../../test/helpers/features.ts";
import { LocalApi } from "../../../cli/books/local.ts";
import { admin as own } from "../admin.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { listOperations } from "../../../admin/operations/index.ts";
import { KEY_OPTIONS } from "../../../ledger/keys/options.ts";
import { cacheReport, cacheSession, cacheSessions } from "../../../operator/cache.ts";
import { prompted, TABLES } from "./prompt-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-caches-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the operations follow one that the build has, each as its contract says", () => {
  const all = listOperations("0", COLUMNS, KEY_OPTIONS, OPERATIONS);
  const before = own.after.find((named) => all.some(({ id }) => id === named));
  const at = all.findIndex(({ id }) => id === before) + 1;
  const found = all.slice(at, at + 3).map(({ handle: _, ...operation }) => operation);
  expect(found).toEqual([cacheReport, cacheSessions, cacheSession]);
});

test("a store without such calls has sums of zero, no sessions, and no session by an id", async () => {
  const admin = fakeAdmin();
  const report = await admin.send("GET", "/admin/v1/cache?by=key");
  expect(report.body).toMatchObject({ rows: [], total: { calls: 0, lostCost: 0 } });
  expect((await admin.send("GET", "/admin/v1/cache/sessions")).body.sessions).toEqual([]);
  const missing = await admin.send("GET", `/admin/v1/cache/sessions/${"f".repeat(16)}`);
  expect([missing.status, missing.body.error.code]).toEqual([404, "not_found"]);
});

test("commands read the reports from the store of a gateway that does not run", async () => {
  const store = sqliteStore(join(folder, "weir.db"), () => NOW, TABLES);
  await store.open();
  await store.commit(
    commit({ batches: [batch(1, [prompted("a", "xy", 0, 0), prompted("a", "Xy", 1_000, 0)])] }),
  );
  await store.close();
  const declared = { columns: [], keyOptions: [], tables: async () => TABLES };
  const api = await LocalApi.open(folder, {
    ...declared,
    operations: async () => OPERATIONS,
    keeperParts: async () => new Map(),
  });
  const report = await api.send<{ total: object }>("GET", "/cache", { query: { from: NOW } });
  expect(report.total).toMatchObject({ calls: 2, breaks: 1 });
  await api.close();
});
