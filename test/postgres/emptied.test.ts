/** A PostgreSQL database that is emptied, or replaced by another one, never opens a gateway that had keys. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClusterStore } from "../../src/keeper/store/postgres/cluster-store.ts";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { type RunningBooks, startBooks } from "../books/running.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { ask, until } from "../helpers/serving.ts";
import { ACTOR, key } from "../keeper/books/make.ts";

setDefaultTimeout(120_000);

/** What happens to the database, as statements of its owner. */
const LOSSES: readonly (readonly [string, string])[] = [
  ["without its schema", "DROP SCHEMA weir CASCADE"],
  ["with empty tables", "TRUNCATE weir.keys, weir.key_digests, weir.budgets, weir.rates, weir.meta CASCADE"],
  ["with no keys", "DELETE FROM weir.key_digests; DELETE FROM weir.keys"],
];

if (missingPostgres) test.skip(`a database that is emptied: ${missingPostgres}`, () => {});
else
  describe("a database that is emptied", async () => {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "weir-emptied-"));
    let running: RunningBooks | undefined;
    let files = 0;
    afterEach(async () => {
      await running?.end();
      running = undefined;
    });
    afterAll(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const open = async (url: string, spool: string) => {
      const store = new ClusterStore(url, { spool, leaseMs: 900_000 });
      await store.open();
      return store;
    };

    const lose = async (url: string, statements: string) => {
      const owner = new Postgres(url, { connections: 1 });
      await owner.run(statements);
      await owner.close();
    };

    test.each(LOSSES)("%s", async (_, statements) => {
      const [url, spool] = [await server.createDatabase(), join(folder, `spool${files++}.db`)];
      const before = await open(url, spool);
      expect((await before.policy()).closed).toBe(false);
      await before.saveKey(key("key_a"), ACTOR);
      await before.close();
      await lose(url, statements);
      const after = await open(url, spool);
      // Without a policy the gateway knows no key, and answers 503.
      if (statements.includes("meta")) expect(after.policy()).rejects.toThrow("it was emptied");
      else expect((await after.policy()).closed).toBe(true);
      await after.close();
    });

    test("another database in its place, and a mark that cannot be read", async () => {
      const spool = join(folder, "moved.db");
      const before = await open(await server.createDatabase(), spool);
      await before.saveKey(key("key_a"), ACTOR);
      await before.close();
      const other = await open(await server.createDatabase(), spool);
      expect((await other.policy()).closed).toBe(true);
      expect(other.closedBecause).toContain("has no keys, and had some");
      await other.saveKey(key("key_b"), ACTOR);
      await other.policy();
      expect(other.closedBecause).toBeUndefined();
      await other.close();
      const [fresh, torn] = [await server.createDatabase(), join(folder, "torn.db")];
      writeFileSync(join(folder, "torn.mark"), "{");
      const store = await open(fresh, torn);
      expect((await store.policy()).closed).toBe(true);
      await store.close();
    });

    test("a gateway that starts on it asks for a key, and says why in its log", async () => {
      const [url, state] = [await server.createDatabase(), join(folder, "state")];
      const config = { store: { url }, admin: {} };
      const first = (running = await startBooks({ workers: 1, config, state }));
      expect((await ask(first.url, "mock/chat")).status).toBe(200);
      const secret = first.createKey("app");
      expect(await until(async () => (await ask(first.url, "mock/chat")).status === 401)).toBe(true);
      first.signal("SIGTERM");
      await first.exited;
      await lose(url, "DROP SCHEMA weir CASCADE");
      const second = (running = await startBooks({ workers: 1, config, state }));
      for (let n = 0; n < 20; n++) expect((await ask(second.url, "mock/chat")).status).not.toBe(200);
      expect(await until(() => second.log.some((line) => line.includes("has no keys, and had some")))).toBe(
        true,
      );
      const withKey = { headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" } };
      const response = await fetch(`${second.url}/v1/models`, withKey);
      expect(response.status).toBe(401);
    });
  });
