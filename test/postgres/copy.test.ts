/** The copy of the books of one machine to PostgreSQL. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyBooks, type CopyProgress } from "../../src/keeper/store/postgres/copy.ts";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import { ClusterStore } from "../../src/keeper/store/postgres/cluster-store.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { checkChain } from "../../src/keeper/store/audit-log.ts";
import { auditBooks } from "../../src/keeper/reports/audit.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, key, MONTH, NOW } from "../keeper/books/make.ts";
import { words } from "../keeper/books/feature-suite.ts";

setDefaultTimeout(120_000);

const A = budgetAccount("a", MONTH);

if (missingPostgres) test.skip(`the copy to PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("the copy to PostgreSQL", async () => {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "weir-copy-"));
    afterAll(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function fill(path: string, calls: number): Promise<void> {
      const store = sqliteStore(path, () => NOW);
      await store.open();
      await store.saveKey(key("key_a"), ACTOR);
      await store.saveBudget(budget("a", { limit: 10 * DOLLAR }), ACTOR);
      await store.draw([draw(A, { limit: 10 * DOLLAR, need: 5 * DOLLAR, want: 5 * DOLLAR })]);
      const records = Array.from({ length: calls }, (_, n) =>
        call({
          session: (n % 7).toString(16).padStart(16, "0"),
          attempts:
            n % 5 === 0
              ? [attempt({ accounts: [A] }), attempt({ accounts: [A] })]
              : [attempt({ accounts: [A] })],
        }),
      );
      await store.commit(
        commit({
          batches: [batch(1, records)],
          assumptions: [{ account: A, amount: 1_000, why: "worker 1 ended" }],
          margins: [{ target: "mock/echo", kind: "words", factor: 1.5 }],
        }),
      );
      const [row] = await store.accounts(NOW);
      await store.commit(commit({ returns: [{ account: A, amount: row!.own }] }));
      await store.close();
    }

    const SUMS = `SELECT count(*) AS calls, sum(cost) AS cost, min(number) AS first, max(number) AS last FROM calls`;

    test("has the same sums, can be repeated, and the audit holds on both sides", async () => {
      const path = join(folder, "weir.db");
      const url = await server.createDatabase();
      await fill(path, 2_500);
      const steps: CopyProgress[] = [];
      const rows = await copyBooks(path, url, [], (step) => steps.push(step));
      expect(await copyBooks(path, url, [])).toBe(rows);
      expect(steps.filter(({ table }) => table === "calls").map(({ rows }) => rows)).toEqual([
        1_000, 2_000, 2_500,
      ]);
      const from = sqliteStore(path, () => NOW);
      const to = postgresStore(url, { node: "reader", now: () => NOW });
      await from.open();
      await to.open();
      expect(await to.sql.all(SUMS)).toEqual(await from.sql.all(SUMS));
      expect(await to.policy()).toEqual(await from.policy());
      expect((await to.accounts(NOW))[0]).toEqual((await from.accounts(NOW))[0]!);
      for (const { sql } of [from, to]) {
        const { holds, checks } = await auditBooks(sql);
        expect(checks.filter((check) => !check.holds)).toEqual([]);
        expect(holds).toBe(true);
        expect(await checkChain(sql)).toEqual({ entries: 2, older: 0 });
      }
      // New names get numbers of their own.
      await to.commit(commit({ batches: [batch(1, [call({ model: "mock/new" })], "new life")] }));
      expect((await to.sql.all("SELECT count(*) AS names FROM names WHERE text = 'mock/new'"))[0]).toEqual({
        names: 1,
      });
      await from.close();
      await to.close();
    });

    test("has the tables of features, and is refused by a build without one of them", async () => {
      const path = join(folder, "features.db");
      const url = await server.createDatabase();
      const store = sqliteStore(path, () => NOW, [words()]);
      await store.open();
      await store.commit(commit({ batches: [batch(1, [call({ session: "00000000000000aa" })])] }));
      await store.close();
      await expect(copyBooks(path, url, [])).rejects.toThrow(
        "has tables of words, which this build does not know",
      );
      const both = [words(), words({}, "other")];
      expect(await copyBooks(path, url, both)).toBe(await copyBooks(path, url, both));
      const to = postgresStore(url, { node: "reader", now: () => NOW, tables: both });
      await to.open();
      expect(await to.sql.all("SELECT count(*) AS rows FROM words")).toEqual([{ rows: 1 }]);
      expect(await to.sql.all("SELECT count(*) AS rows FROM other")).toEqual([{ rows: 0 }]);
      // An earlier version of weir has no versions of features.
      const file = new Database(path);
      file.run("DROP TABLE feature_versions");
      file.close();
      await expect(copyBooks(path, url, [])).rejects.toThrow(
        "has the tables words, which this build does not know",
      );
      await to.close();
    });

    test("is refused while a gateway has money of the file, and when a gateway uses the database", async () => {
      const path = join(folder, "busy.db");
      const url = await server.createDatabase();
      const store = sqliteStore(path, () => NOW);
      await store.open();
      await store.draw([draw(A)]);
      await store.close();
      await expect(copyBooks(path, url, [])).rejects.toThrow("has not ended in order");
      const fine = join(folder, "fine.db");
      await fill(fine, 1);
      await copyBooks(fine, url, []);
      const node = new ClusterStore(url, { spool: join(folder, "s.db"), leaseMs: 900_000 });
      await node.open();
      await expect(copyBooks(fine, url, [])).rejects.toThrow(
        "a gateway uses this PostgreSQL database already",
      );
      await node.close();
    });
  });
