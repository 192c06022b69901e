/** The chain of the audit log: what was changed, removed or put in by hand is found, and what weir does by itself breaks nothing. */
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import { checkChain } from "../../../src/keeper/store/audit-log.ts";
import { openOrRecover } from "../../../src/keeper/store/recover.ts";
import { migrationsFor } from "../../../src/keeper/store/schema.ts";
import type { Sql } from "../../../src/keeper/store/sql.ts";
import { openSqlite } from "../../../src/keeper/store/sqlite.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { ACTOR, budget, NOW } from "./make.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-audit-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${files++}.db`);

/** A store whose log has four entries: two of a budget, two notes. */
async function filled(path = fresh()) {
  const store = sqliteStore(path, () => NOW);
  await store.open();
  const reports = new Reports(store.sql, store.sql, () => NOW);
  await store.saveBudget(budget("a"), ACTOR);
  await store.deleteBudget("a", ACTOR);
  await reports.note({ actor: "key_1", address: "10.0.0.1" }, "look", "calls/\ud800", { n: 1 });
  await reports.note(ACTOR, "look", "calls/2");
  return { path, store, reports };
}

/** As a person who may write to the file can. */
async function unlocked(sql: Sql): Promise<void> {
  for (const event of ["update", "delete"]) await sql.run(`DROP TRIGGER audit_${event}`);
}

const PUT_IN = "INSERT INTO audit (id, at, actor, action, subject) VALUES";
const COPY_OF_3 = `INSERT INTO audit (at, actor, address, action, subject, before, after, previous, hash)
  SELECT at, actor, address, action, subject, before, after, previous, hash FROM audit WHERE id = 3`;

describe("is found:", () => {
  test.each([
    [
      "UPDATE audit SET actor = 'x' WHERE id = 2",
      "entry 2 (delete of budgets/a, 2026-11-15 12:00 UTC) was changed",
    ],
    [
      "UPDATE audit SET at = at + 1 WHERE id = 3",
      "entry 3 (look of calls/\ufffd, 2026-11-15 12:00 UTC) was changed",
    ],
    ["UPDATE audit SET address = NULL WHERE id = 3", "entry 3 "],
    ["UPDATE audit SET after = '{}' WHERE id = 1", "entry 1 (create of budgets/a"],
    ["UPDATE audit SET before = NULL WHERE id = 2", "entry 2 "],
    ["UPDATE audit SET subject = 'calls/3' WHERE id = 4", "entry 4 (look of calls/3"],
    [
      "UPDATE audit SET hash = NULL WHERE id = 3",
      "entry 3 (look of calls/\ufffd, 2026-11-15 12:00 UTC) was not written by weir",
    ],
    ["UPDATE audit SET hash = NULL, previous = NULL WHERE id = 1", "an entry before entry 2 "],
    [
      "DELETE FROM audit WHERE id = 1",
      "an entry before entry 2 (delete of budgets/a, 2026-11-15 12:00 UTC) was removed or exchanged",
    ],
    ["DELETE FROM audit WHERE id = 3", "an entry before entry 4 "],
    ["DELETE FROM audit WHERE id = 4", "the newest entries were removed: 1"],
    ["DELETE FROM audit", "the newest entries were removed: 4"],
    [
      `${PUT_IN} (9, 1, 'x', 'look', 'calls/9')`,
      "entry 9 (look of calls/9, 1970-01-01 00:00 UTC) was not written by weir",
    ],
    [COPY_OF_3, "an entry before entry 5 (look of calls/\ufffd"],
  ])("%s", async (change, sentence) => {
    const { store, reports } = await filled();
    const found = async () => {
      const { checks, holds } = await reports.audit();
      const { detail } = checks.find(({ name }) => name === "the audit log is as weir wrote it")!;
      return [holds, detail] as const;
    };
    expect(await found()).toEqual([true, "4 entries"]);
    await unlocked(store.sql);
    await store.sql.run(change);
    const [holds, detail] = await found();
    expect(holds).toBe(false);
    expect(detail).toStartWith(sentence);
    await store.close();
  });
});

test("entries of an earlier version have no hash, and the chain begins behind them", async () => {
  const path = fresh();
  const early = openSqlite(path, migrationsFor("sqlite").slice(0, -1));
  for (const id of [1, 2]) await early.run(`${PUT_IN} (${id}, 1, 'x', 'look', 'calls/1')`);
  await early.close();
  const { store, reports } = await filled(path);
  expect(await checkChain(store.sql)).toEqual({ entries: 4, older: 2 });
  const { checks } = await reports.audit();
  expect(checks.map(({ detail }) => detail)).toContain("4 entries, and 2 of earlier versions without a hash");
  await unlocked(store.sql);
  await store.sql.run("DELETE FROM audit WHERE id = 3");
  expect((await checkChain(store.sql)).fault).toStartWith("an entry before entry 4 ");
  await store.close();
});

test("the log of many entries is read in parts", async () => {
  const store = sqliteStore(fresh(), () => NOW);
  await store.open();
  const reports = new Reports(store.sql, store.sql, () => NOW);
  for (let n = 0; n < 1_001; n++) await reports.note(ACTOR, "look", `calls/${n}`);
  expect(await checkChain(store.sql)).toEqual({ entries: 1_001, older: 0 });
  await unlocked(store.sql);
  await store.sql.run("DELETE FROM audit WHERE id = 1000");
  expect((await checkChain(store.sql)).fault).toStartWith("an entry before entry 1001 ");
  await store.close();
});

test("a file that was recovered goes on with the entries that it has, and says how many are lost", async () => {
  const { path, store } = await filled();
  await unlocked(store.sql);
  await store.sql.run("DELETE FROM audit WHERE id > 2");
  await store.close();
  const options = { copies: () => [], now: () => NOW, damaged: true, tables: [] };
  const sql = await openOrRecover(path, options);
  expect(await checkChain(sql)).toEqual({ entries: 3, older: 0 });
  const [entry] = await sql.all<{ after: string }>("SELECT after FROM audit ORDER BY id DESC LIMIT 1");
  expect(JSON.parse(entry!.after)).toMatchObject({ lostEntries: 2 });
  await sql.close();
});

test("a copy of the file goes on with its own entries", async () => {
  const { path, store } = await filled();
  await store.close();
  const copy = fresh();
  copyFileSync(path, copy);
  const again = await filled(copy);
  expect(await checkChain(again.store.sql)).toEqual({ entries: 8, older: 0 });
  await again.store.close();
});
