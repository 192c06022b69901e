/** What an operator does with PostgreSQL: migrates to it, gives weir a role that owns only its schema, removes a person's rows. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClusterStore } from "../../src/keeper/store/postgres/cluster-store.ts";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { openPostgres, postgresStore } from "../../src/keeper/store/postgres/store.ts";
import { ServerUpkeep } from "../../src/keeper/store/postgres/upkeep.ts";
import { auditBooks } from "../../src/keeper/reports/audit.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { runCommand } from "../helpers/command.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, key, MONTH, NOW } from "../keeper/books/make.ts";

setDefaultTimeout(120_000);

const A = budgetAccount("a", MONTH);

if (missingPostgres) test.skip(`an operator's PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("an operator's PostgreSQL", async () => {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "weir-operator-"));
    afterAll(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test("store migrate ends with its result", async () => {
      const state = join(folder, "state");
      await Bun.$`mkdir -p ${state}`;
      const store = sqliteStore(join(state, "weir.db"), () => NOW);
      await store.open();
      await store.saveKey(key("key_a"), ACTOR);
      await store.commit(commit({ batches: [batch(1, [call(), call()])] }));
      await store.close();
      const url = await server.createDatabase();
      const began = performance.now();
      const { code, out } = await runCommand(["store", "migrate", "--state", state, "--to", url, "--json"], {
        cwd: folder,
      });
      expect([code, (JSON.parse(out) as { holds: boolean }).holds]).toEqual([0, true]);
      // The limit of a query is 60 s: a timer that is left would keep the process for so long.
      expect(performance.now() - began).toBeLessThan(45_000);
    });

    /** A role without rights on the database, and the URL with which it connects. */
    async function createRole(name: string): Promise<{ url: string; owner: Postgres }> {
      const admin = await server.createDatabase();
      const owner = new Postgres(admin, { connections: 1 });
      await owner.run(`CREATE ROLE ${name} LOGIN`);
      const url = new URL(admin);
      url.username = name;
      return { url: url.href, owner };
    }

    test("a role that owns only its schema serves", async () => {
      const { url, owner } = await createRole("app");
      await owner.run("CREATE SCHEMA weir AUTHORIZATION app");
      await owner.close();
      const node = new ClusterStore(url, { spool: join(folder, "app.db"), leaseMs: 900_000 });
      await node.open();
      await node.saveKey(key("key_a"), ACTOR);
      expect((await node.policy()).keys.map(({ id }) => id)).toEqual(["key_a"]);
      await node.close();
    });

    test("a role that may not create the schema is told the statement that helps", async () => {
      const { url, owner } = await createRole("poor");
      await owner.close();
      const opened = openPostgres(url, () => NOW, { connections: 1 });
      await expect(opened).rejects.toThrow(
        /the role poor may not create the schema weir in the database weir\d+; run there, as its owner: CREATE SCHEMA weir AUTHORIZATION "poor"/,
      );
    });

    test("store prune removes the rows of a key, keeps their sums, and the audit holds", async () => {
      const url = await server.createDatabase();
      const store = postgresStore(url, { node: "one", slot: () => 0, now: () => NOW, connections: 2 });
      await store.open();
      await store.saveBudget(budget("a", { limit: 10 * DOLLAR }), ACTOR);
      await store.draw([draw(A, { limit: 10 * DOLLAR, need: 5 * DOLLAR, want: 5 * DOLLAR })]);
      const records = Array.from({ length: 1_200 }, (_, n) =>
        call({ key: n % 2 ? "key_a" : "key_b", attempts: [attempt({ accounts: [A] })] }),
      );
      await store.commit(commit({ batches: [batch(1, records)] }));
      const [account] = await store.accounts(NOW);
      await store.commit(commit({ returns: [{ account: A, amount: account!.own }] }));
      const [before] = await store.sql.all("SELECT sum(calls) AS calls, sum(cost) AS cost FROM use_hour");
      const node = new ClusterStore(url, { spool: join(folder, "prune.db"), leaseMs: 900_000 });
      const upkeep = new ServerUpkeep(node, url);
      const due = await upkeep.prune({ key: "key_a", dryRun: true }, ACTOR);
      expect(due.tables.calls!.rows).toBe(600);
      expect(due.tables.calls!.bytes).toBeGreaterThan(0);
      const { rows, tables } = await upkeep.prune({ key: "key_a" }, ACTOR);
      expect([rows, tables.calls]).toEqual([due.rows, { rows: 600 }]);
      await expect(upkeep.prune({}, ACTOR)).rejects.toThrow("name a key");
      expect(await store.sql.all("SELECT count(*) AS calls FROM calls")).toEqual([{ calls: 600 }]);
      const [after] = await store.sql.all("SELECT sum(calls) AS calls, sum(cost) AS cost FROM use_hour");
      expect(after).toEqual(before!);
      const { checks } = await auditBooks(store.sql);
      expect(checks.filter(({ holds }) => !holds)).toEqual([]);
      const { entries } = await upkeep.reports.auditLog({ limit: 5 });
      expect(entries[0]).toMatchObject({ action: "prune", subject: "keys/key_a" });
      await upkeep.close();
      await store.close();
    });
  });
