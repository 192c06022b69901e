/** The chain of the audit log on PostgreSQL: gateways that write at the same time do not fork it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { checkChain } from "../../src/keeper/store/audit-log.ts";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { ACTOR, budget, NOW } from "../keeper/books/make.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`the audit log on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("the audit log on PostgreSQL", async () => {
    const server = await startPostgres();
    afterAll(() => server.close());

    test("is one chain, whoever writes to it, and what was changed by hand is found", async () => {
      const url = await server.createDatabase();
      const nodes = ["one", "two", "three"].map((node) => postgresStore(url, { node, now: () => NOW }));
      for (const node of nodes) await node.open();
      const writes = Array.from({ length: 90 }, (_, n) => {
        const store = nodes[n % nodes.length]!;
        const reports = new Reports(store.sql, store.sql, () => NOW);
        return n % 3 === 0
          ? store.saveBudget(budget(`b${n}`), ACTOR)
          : reports.note(ACTOR, "look", `calls/${n}`);
      });
      await Promise.all(writes);
      const { sql } = nodes[0]!;
      expect(await checkChain(sql)).toEqual({ entries: 90, older: 0 });
      const forks = "SELECT previous FROM audit GROUP BY previous HAVING count(*) > 1";
      expect(await sql.all(forks)).toEqual([]);

      await sql.run("DROP TRIGGER audit_rows ON audit");
      await sql.run("UPDATE audit SET actor = 'x' WHERE id = 40");
      expect((await checkChain(sql)).fault).toMatch(/^entry 40 .* was changed$/);
      await sql.run("DELETE FROM audit WHERE id = 40");
      expect((await checkChain(sql)).fault).toMatch(/^an entry before entry 41 .* was removed or exchanged$/);
      for (const node of nodes) await node.close();
    });
  });
