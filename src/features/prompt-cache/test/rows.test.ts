/** Rows of prompts in a file, also one that a build without the feature has used. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { batch, commit, NOW } from "../../../../test/keeper/books/make.ts";
import { removeKey } from "../../../keeper/record/deletion.ts";
import { Retention } from "../../../keeper/record/retention.ts";
import { Reports } from "../../../keeper/reports/reports.ts";
import type { NamedTables } from "../../../keeper/seams.ts";
import { IN_MEMORY } from "../../../keeper/settings.ts";
import { openOrRecover } from "../../../keeper/store/recover.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { DEFAULT_KEEP } from "../../../ledger/keep.ts";
import { cacheReport } from "../report.ts";
import { tables } from "../tables.ts";
import { describePrompts, prompted, TABLES } from "./prompt-suite.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-prompts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(path: string, features: readonly NamedTables[]): Promise<SqlStore> {
  const store = sqliteStore(path, () => NOW, features);
  await store.open();
  return store;
}

describePrompts(() => open(IN_MEMORY, TABLES));

test("the sums of a damaged file are in the new one", async () => {
  const path = join(folder, "damaged.db");
  const store = await open(path, TABLES);
  await store.commit(commit({ batches: [batch(1, [prompted("a", "xy", 0, 0)])] }));
  await store.close();
  const options = { copies: () => [], now: () => NOW, damaged: true, tables: TABLES };
  const sql = await openOrRecover(path, options);
  expect(await sql.all("SELECT saved FROM cache_day")).toEqual([{ saved: 7 }]);
  expect(await sql.all("SELECT * FROM prompts")).toEqual([]);
  await sql.close();
});

/** A hash of all rows of the feature. */
async function hashOf(store: SqlStore): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for (const table of tables.copied)
    hash.update(JSON.stringify(await store.sql.all(`SELECT * FROM ${table} ORDER BY 1, 2`)));
  return hash.digest("hex");
}

test.each([
  ["a store of the last release, which has no versions of features", true],
  ["a store of this version", false],
])(
  "%s: a build without the feature leaves its rows alone, and one with it goes on with them",
  async (_, isOld) => {
    const path = join(folder, `${isOld}.db`);
    const first = await open(path, TABLES);
    await first.commit(commit({ batches: [batch(1, [prompted("a", "xy", 0, 0)])] }));
    await first.commit(commit({ batches: [batch(2, [prompted("a", "Xy", 1_000, 0)])] }));
    if (isOld) await first.sql.run("DROP TABLE feature_versions");
    const before = await hashOf(first);
    await first.close();

    const without = await open(path, []);
    await without.commit(commit({ batches: [batch(3, [prompted("b", "pq", 2_000, 0, { key: "key_b" })])] }));
    const later = new Retention(without.sql, () => NOW + 1_000 * 86_400_000);
    later.keep = DEFAULT_KEEP;
    await removeKey(without.sql, "key_b", () => Promise.resolve());
    await later.slice();
    later.stop();
    expect(await hashOf(without)).toBe(before);
    await without.close();

    const store = await open(path, TABLES);
    expect(await hashOf(store)).toBe(before);
    const next = prompted("a", "Xyz", 3_000, 4_000);
    await store.commit(commit({ batches: [batch(4, [next])] }));
    const reports = new Reports(store.sql, store.sql, () => NOW, undefined, TABLES);
    expect(await reports.call(next.id)).toMatchObject({ cacheBreak: { reason: "provider", tokens: 6_000 } });
    expect((await reports.read((sql, names) => cacheReport(sql, names, { by: [] }))).total).toMatchObject({
      calls: 3,
      breaks: 2,
    });
    await store.close();
  },
);
