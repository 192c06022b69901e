/** Proofs of new rows on PostgreSQL: nodes share them, rows of nodes that commit beside each other are not missed. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { PROOF_TABLES } from "../../src/keeper/proof/tables.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { NOW } from "../keeper/books/make.ts";
import { writing } from "../keeper/books/proof-world.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`proofs on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("proofs on PostgreSQL", async () => {
    const server = await startPostgres();
    afterAll(() => server.close());

    test("S16: two nodes prove new rows of both, again until they have settled, and find what was changed by hand", async () => {
      const url = await server.createDatabase();
      let now = NOW;
      const clock = () => now;
      const stores = ["one", "two"].map((node, slot) =>
        postgresStore(url, { node, slot: () => slot, now: clock, tables: [PROOF_TABLES] }),
      );
      for (const store of stores) await store.open();
      const [one, two] = stores.map(
        (store) => new Reports(store.sql, store.sql, clock, store.sql, [PROOF_TABLES]),
      );
      const [write, also] = [await writing(stores[0]!, "one"), await writing(stores[1]!, "two")];
      await write(200);
      expect((await one!.audit()).holds).toBeTrue();
      await write(100);
      await also(100);
      // Rows of the last two minutes are read again.
      expect(await one!.prover.since()).toEqual({ proven: 400 });
      expect(await two!.prover.since()).toEqual({ proven: 400 });
      now += 130_000;
      expect(await two!.prover.since()).toEqual({ proven: 400 });
      await also(100);
      expect(await one!.prover.since()).toEqual({ proven: 100 });
      expect(await two!.lastProof()).toMatchObject({ calls: 400, report: { holds: true } });
      const both = await Promise.all([one!.prover.since(), two!.prover.since(), one!.audit(), two!.audit()]);
      expect(both.slice(0, 2)).toEqual([{ proven: 100 }, { proven: 100 }]);
      expect(await one!.prover.since()).toHaveProperty("proven");
      await stores[0]!.sql.run(
        "UPDATE calls SET cost = cost + 1 WHERE number = (SELECT max(number) FROM calls WHERE tries = 1 AND state = 0 AND cost > 0)",
      );
      expect(await two!.prover.since()).toEqual({ fault: expect.any(String) });
      expect((await two!.audit()).holds).toBeFalse();
      expect(await one!.prover.since()).toBe("none");
      for (const store of stores) await store.close();
    });
  });
