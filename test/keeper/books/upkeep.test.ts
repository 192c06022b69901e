/** What keeps the file of the books in order: retention, removal of a key, copies, and what a damaged file becomes. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { deleteCalls } from "../../../src/keeper/record/deletion.ts";
import type { Pruned } from "../../../src/keeper/record/due.ts";
import { firstNumber } from "../../../src/keeper/store/numbers.ts";
import { auditBooks } from "../../../src/keeper/reports/audit.ts";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import { Retention } from "../../../src/keeper/record/retention.ts";
import { migrationsFor } from "../../../src/keeper/store/schema.ts";
import { isNetworkFileSystem, openSqlite } from "../../../src/keeper/store/sqlite.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { BudgetsClosed } from "../../../src/keeper/store/store.ts";
import { SqlUpkeep } from "../../../src/keeper/store/upkeep.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { DEFAULT_KEEP } from "../../../src/ledger/keep.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, key, MONTH, NOW } from "./make.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-upkeep-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${files++}.db`);

const DAY = 86_400_000;
const A = budgetAccount("a", MONTH);

async function open(path: string = IN_MEMORY, now = () => NOW): Promise<SqlStore> {
  const store = sqliteStore(path, now);
  await store.open();
  return store;
}

const charged = (changes: object = {}) => call({ attempts: [attempt({ accounts: [A] })], ...changes });

const failing = async (store: SqlStore) =>
  (await new Reports(store.sql, store.sql, () => NOW).audit()).checks.filter(({ holds }) => !holds);

describe("retention", () => {
  test("deletes calls, hours and sessions by their days; sums by day and budgets stay, and the audit is green", async () => {
    let now = NOW - 100 * DAY;
    const store = await open(IN_MEMORY, () => now);
    const many = () =>
      Array.from({ length: 700 }, () => charged({ startedAt: now, session: "00".repeat(8) }));
    await store.commit(
      commit({
        batches: [
          batch(1, [
            ...many(),
            charged({ startedAt: now, attempts: [attempt({ accounts: [A] }), attempt()] }),
          ]),
        ],
      }),
    );
    now = NOW;
    await store.commit(commit({ batches: [batch(2, [charged()])] }));
    const before = await store.accounts(NOW);
    const retention = new Retention(store.sql, () => now);
    const pauses: number[] = [];
    // The config is not known yet: it may want more.
    expect(await retention.slice()).toBe(0);
    retention.keep = { keepDays: { calls: 90, hours: 90, sessions: 30 }, callBytes: Infinity };
    await retention.all(async () => void pauses.push(1));
    retention.stop();
    const count = async (table: string) =>
      (await store.sql.all<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))[0]!.rows;
    expect(await count("calls")).toBe(1);
    expect(await count("charges")).toBe(0);
    expect(await count("use_hour")).toBe(1);
    expect(await count("use_day")).toBe(2);
    expect(await count("sessions")).toBe(0);
    expect(pauses.length).toBeGreaterThan(1);
    expect(await store.accounts(NOW)).toEqual(before);
    expect(await failing(store)).toEqual([]);
    const usage = await new Reports(store.sql, store.sql, () => NOW).usage({
      by: ["hour"],
      from: NOW - 200 * DAY,
    });
    expect(usage.completeFrom).toBeGreaterThan(NOW - 91 * DAY);
  });

  test("keeps the file below its size by deleting the oldest calls", async () => {
    const store = await open(fresh());
    for (let seq = 1; seq <= 8; seq++)
      await store.commit(
        commit({
          batches: [
            batch(
              seq,
              Array.from({ length: 500 }, () => charged()),
            ),
          ],
        }),
      );
    const bytes = async () => {
      const [row] = await store.sql.all<{ used: number }>(
        "SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count) AS used",
      );
      return row!.used * 8192;
    };
    const most = (await bytes()) / 2;
    const retention = new Retention(store.sql, () => NOW, bytes);
    retention.keep = { ...DEFAULT_KEEP, callBytes: most };
    await retention.all(async () => {});
    retention.stop();
    expect(await bytes()).toBeLessThanOrEqual(most);
    const { calls } = await new Reports(store.sql, store.sql).calls({ limit: 1 });
    expect(calls).toHaveLength(1);
    expect(await failing(store)).toEqual([]);
    await store.close();
  });

  test("deletes at most 500 rows in one transaction", async () => {
    const store = await open();
    for (let seq = 1; seq <= 3; seq++)
      await store.commit(
        commit({
          batches: [
            batch(
              seq,
              Array.from({ length: 300 }, () => charged()),
            ),
          ],
        }),
      );
    expect(await deleteCalls(store.sql, firstNumber(NOW + DAY))).toBe(500);
    expect(await deleteCalls(store.sql, firstNumber(NOW + DAY))).toBe(400);
  });
});

test("removal of the calls of a key leaves all sums equal, and the audit green", async () => {
  const store = await open();
  await store.commit(
    commit({
      batches: [
        batch(1, [
          charged(),
          charged({ path: "/moved" }),
          charged({ key: "key_b" }),
          charged({ startedAt: NOW - 40 * DAY }),
        ]),
      ],
    }),
  );
  const upkeep = new SqlUpkeep(store, IN_MEMORY, () => NOW);
  const { total: before } = await upkeep.reports.usage({ by: [] });
  const due = await upkeep.prune({ key: "key_a", dryRun: true }, ACTOR);
  expect((await upkeep.reports.calls({ limit: 9 })).calls).toHaveLength(4);
  const pruned = await upkeep.prune({ key: "key_a" }, ACTOR);
  expect(pruned.tables.calls).toEqual({ rows: 3 });
  expect(rowsOf(due)).toEqual(rowsOf(pruned));
  expect(due.tables.calls!.bytes).toBeGreaterThan(0);
  const { total, rows } = await upkeep.reports.usage({ by: ["key"] });
  expect(total).toEqual(before);
  expect(rows.map(({ group, calls }) => [group.key, calls])).toEqual([
    ["removed", 3],
    ["key_b", 1],
  ]);
  expect((await upkeep.reports.calls({ limit: 9 })).calls.map((one) => one.key)).toEqual(["key_b"]);
  expect(await failing(store)).toEqual([]);
  await upkeep.close();
});

/** Rows by table, without their bytes. */
function rowsOf({ rows, tables }: Pruned) {
  return { rows, tables: Object.entries(tables).map(([table, counted]) => [table, counted.rows]) };
}

/** Retention has looked once, without a config that says what to delete; it looks again in a minute. */
const firstLook = () => Bun.sleep(300);

test("a dry run counts what the real one then deletes, by table, and deletes nothing", async () => {
  let now = NOW - 100 * DAY;
  const store = await open(IN_MEMORY, () => now);
  const old = Array.from({ length: 700 }, () => charged({ startedAt: now }));
  const withSession = charged({ session: "00112233445566aa", startedAt: now });
  await store.commit(commit({ batches: [batch(1, [...old, withSession])] }));
  now = NOW;
  await store.commit(
    commit({
      batches: [
        batch(
          2,
          Array.from({ length: 20 }, () => charged()),
        ),
      ],
    }),
  );
  const upkeep = new SqlUpkeep(store, IN_MEMORY, () => NOW);
  await firstLook();
  upkeep.keep({ keepDays: { calls: 30, hours: 30, sessions: 30 }, callBytes: 1e9 });
  const due = await upkeep.prune({ dryRun: true }, ACTOR);
  expect(await upkeep.prune({ dryRun: true }, ACTOR)).toEqual(due);
  expect(due.tables.calls!.rows).toBe(701);
  expect(Object.keys(due.tables)).toEqual(["calls", "use_hour", "sessions"]);
  const pruned = await upkeep.prune({}, ACTOR);
  expect(rowsOf(pruned)).toEqual(rowsOf(due));
  expect(await upkeep.prune({ dryRun: true }, ACTOR)).toEqual({ rows: 0, tables: {} });
  expect((await upkeep.reports.calls({ limit: 50 })).calls).toHaveLength(20);
  await upkeep.close();
});

test("calls that go because the file is too large are counted about", async () => {
  const store = await open();
  for (let at = 0; at < 4; at++)
    await store.commit(
      commit({
        batches: [
          batch(
            at + 1,
            Array.from({ length: 1_000 }, () => charged()),
          ),
        ],
      }),
    );
  const upkeep = new SqlUpkeep(store, IN_MEMORY, () => NOW);
  await firstLook();
  const { bytes } = await upkeep.info();
  upkeep.keep({ keepDays: { calls: 30, hours: 30, sessions: 30 }, callBytes: Math.floor(bytes * 0.8) });
  const due = (await upkeep.prune({ dryRun: true }, ACTOR)).tables.calls!.rows;
  const gone = (await upkeep.prune({}, ACTOR)).tables.calls!.rows;
  expect(gone).toBeGreaterThan(0);
  expect(Math.abs(due - gone)).toBeLessThanOrEqual(500);
  await upkeep.close();
});

test("an audit says how many of its checks are done while it runs", async () => {
  const store = await open();
  const upkeep = new SqlUpkeep(store, IN_MEMORY, () => NOW);
  expect((await upkeep.info()).auditing).toBeUndefined();
  const { checks } = await upkeep.reports.audit();
  expect(upkeep.reports.auditing).toBeUndefined();
  const progress: number[] = [];
  await auditBooks(store.sql, ({ done, of }) => void progress.push(done / of));
  expect(progress).toEqual(checks.map((_, at) => at / checks.length));
  await upkeep.close();
});

/** The newest schema. */
const KNOWN = migrationsFor("sqlite").length;

describe("a file", () => {
  test("is read by reports through a thread, while the store writes", async () => {
    const path = fresh();
    const store = await open(path);
    const upkeep = new SqlUpkeep(store, path, () => NOW);
    await store.commit(commit({ batches: [batch(1, [charged()])] }));
    const audits = Promise.all([upkeep.reports.audit(), upkeep.reports.usage({ by: ["key"] })]);
    await store.commit(commit({ batches: [batch(2, [charged(), charged()])] }));
    const [audit, usage] = await audits;
    expect(audit.holds).toBe(true);
    expect([1, 3]).toContain(usage.total.calls);
    expect(await upkeep.info()).toMatchObject({ kind: "sqlite", place: path, calls: 3 });
    expect(await upkeep.info()).not.toContainAnyKeys(["keep", "lastBackup"]);
    expect(await upkeep.check()).toMatchObject({ holds: true });
    await upkeep.close();
    await store.close();
  });

  test("is copied while it is used; the copy opens, and an existing file is not overwritten", async () => {
    const path = fresh();
    const store = await open(path);
    const upkeep = new SqlUpkeep(store, path, () => NOW);
    await store.commit(commit({ batches: [batch(1, [charged()])] }));
    const copy = fresh();
    const { bytes } = await upkeep.backup(copy, ACTOR);
    expect(statSync(copy).size).toBe(bytes);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    upkeep.keep(DEFAULT_KEEP);
    expect(await upkeep.info()).toMatchObject({
      keep: { calls: 90, hours: 800, sessions: 30 },
      lastBackup: { at: NOW, place: copy, bytes },
    });
    const restored = await open(copy);
    expect(await failing(restored)).toEqual([]);
    await restored.close();
    await expect(upkeep.backup(copy, ACTOR)).rejects.toThrow(`${copy} exists`);
    await upkeep.close();
    await store.close();
  });

  test("of a newer version is refused with a sentence, and not changed", async () => {
    const path = fresh();
    await openSqlite(path, [...migrationsFor("sqlite"), "CREATE TABLE later (id INTEGER)"]).close();
    const hash = () => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
    const before = hash();
    await expect(open(path)).rejects.toThrow(
      `${path} was written by a newer version of weir (schema ${KNOWN + 1}; this version knows ${KNOWN}); run that version, or use another state folder`,
    );
    expect(hash()).toBe(before);
  });

  test("is copied before its schema changes", async () => {
    const path = fresh();
    const store = await open(path);
    await store.saveKey(key("key_1"), ACTOR);
    await store.close();
    await openSqlite(path, [...migrationsFor("sqlite"), "DROP TABLE keys"]).close();
    const copy = await open(`${path}.v${KNOWN}`);
    expect((await copy.policy()).keys).toHaveLength(1);
    await copy.close();
  });

  test("on a network file system is refused", () => {
    expect(isNetworkFileSystem(0x6969)).toBe(true);
    expect(isNetworkFileSystem(-11_317_950)).toBe(true);
    expect(isNetworkFileSystem(0xef53)).toBe(false);
  });

  test("without room refuses a commit as a whole; it is written when there is room, and reads go on", async () => {
    const path = fresh();
    const store = await open(path);
    await store.commit(commit({ batches: [batch(1, [charged()])] }));
    await store.sql.run("PRAGMA max_page_count = 1");
    const calls = Array.from({ length: 2_000 }, () => charged());
    await expect(store.commit(commit({ batches: [batch(2, calls)] }))).rejects.toThrow("full");
    expect(await store.sql.all("SELECT count(*) AS rows FROM calls")).toEqual([{ rows: 1 }]);
    await store.sql.run("PRAGMA max_page_count = 1000000");
    await store.commit(commit({ batches: [batch(2, calls)] }));
    expect(await store.sql.all("SELECT count(*) AS rows FROM calls")).toEqual([{ rows: 2_001 }]);
    expect(await failing(store)).toEqual([]);
    await store.close();
  });

  test("that another program has locked fails a commit, which works when the lock is gone", async () => {
    const path = fresh();
    const store = await open(path);
    const other = new Database(path);
    other.run("BEGIN IMMEDIATE");
    await expect(store.commit(commit({ batches: [batch(1, [charged()])] }))).rejects.toThrow("locked");
    other.run("COMMIT");
    other.close();
    await store.commit(commit({ batches: [batch(1, [charged()])] }));
    expect(await failing(store)).toEqual([]);
    await store.close();
  });
});

describe("a damaged file", () => {
  /** A file with a key, a budget, and enough calls for many pages. */
  async function filled(): Promise<string> {
    const path = fresh();
    const store = await open(path);
    await store.saveKey(key("key_1"), ACTOR);
    await store.saveBudget(budget("a"), ACTOR);
    await store.draw([draw(A, { need: 1_000, want: 1_000 })]);
    for (let seq = 1; seq <= 4; seq++)
      await store.commit(
        commit({
          batches: [
            batch(
              seq,
              Array.from({ length: 500 }, () => charged()),
            ),
          ],
        }),
      );
    await store.close();
    return path;
  }

  function overwrite(path: string, from: number, bytes: number): void {
    const file = openSync(path, "r+");
    writeSync(file, new Uint8Array(bytes).fill(0xa5), 0, bytes, from);
    closeSync(file);
  }

  const pageOf = async (path: string, table: string) => {
    const db = new Database(path, { readonly: true });
    const row = db
      .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_master WHERE name = ?")
      .get(table);
    db.close();
    return (row!.rootpage - 1) * 8192;
  };

  test("is set aside; keys and budgets are recovered, and hard budgets are closed until they are released", async () => {
    const path = await filled();
    overwrite(path, await pageOf(path, "grants"), 8192);
    const store = await open(path);
    const aside = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.corrupt-`));
    expect(aside.length).toBeGreaterThan(0);
    const { keys, budgets, closed } = await store.policy();
    expect(keys).toMatchObject([{ id: "key_1", digests: [{}] }]);
    expect(budgets).toMatchObject([{ id: "a" }]);
    expect(closed).toBe(true);
    const [account] = await store.accounts(NOW);
    expect(account!.spent).toBe(2_000 * 200_000);
    expect(await failing(store)).toEqual([]);
    const small = draw(budgetAccount("b", MONTH), { need: 1, want: 1 });
    await expect(store.draw([small])).rejects.toThrow(BudgetsClosed);
    expect((await store.draw([{ ...small, hard: false }]))[0]!.amount).toBe(1);
    await store.release(ACTOR);
    expect((await store.draw([small]))[0]!.amount).toBe(1);
    await store.close();
    const again = await open(path);
    expect((await again.draw([small]))[0]!.amount).toBe(1);
    await again.close();
  });

  test("that is no database is replaced by the newest daily copy", async () => {
    const path = await filled();
    copyFileSync(path, `${path}.copy-2026-11-14`);
    writeFileSync(path, "this is not a database ".repeat(1_000));
    const store = await open(path);
    expect((await store.policy()).keys).toMatchObject([{ id: "key_1" }]);
    expect(store.closedBecause).toContain("hard budgets are closed");
    await store.close();
  });

  test("that is found while it is used is recovered, and the failed commit works when it is repeated", async () => {
    const path = await filled();
    const store = await open(path);
    overwrite(path, await pageOf(path, "use_day"), 8192);
    const records = commit({ batches: [batch(9, [charged()], "other")] });
    await expect(store.commit(records)).rejects.toThrow("the file was damaged, and weir has set it aside");
    await store.commit(records);
    expect((await store.policy()).keys).toHaveLength(1);
    expect(await store.sql.all("SELECT count(*) AS rows FROM calls")).toEqual([{ rows: 1 }]);
    await store.close();
  });

  test("of another program, and a folder that does not exist, are sentences and no recovery", async () => {
    const path = fresh();
    const other = new Database(path, { create: true });
    other.run("CREATE TABLE theirs (id INTEGER)");
    other.close();
    await expect(open(path)).rejects.toThrow(`${path} is a database of another program`);
    expect(existsSync(path)).toBe(true);
    await expect(open(join(folder, "absent", "weir.db"))).rejects.toThrow(
      `${join(folder, "absent", "weir.db")} cannot be opened`,
    );
  });
});
