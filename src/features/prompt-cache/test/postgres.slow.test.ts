/** Rows of prompts in PostgreSQL. */
import { afterAll, describe, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { NOW } from "../../../../test/keeper/books/make.ts";
import { postgresStore } from "../../../keeper/store/postgres/store.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { describePrompts, TABLES } from "./prompt-suite.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`rows of prompts in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("in PostgreSQL", async () => {
    const server = await startPostgres();
    const stores: SqlStore[] = [];
    afterAll(async () => {
      for (const store of stores) await store.close();
      await server.close();
    });
    describePrompts(async () => {
      const url = await server.createDatabase();
      const store = postgresStore(url, { node: "one", now: () => NOW, connections: 2, tables: TABLES });
      await store.open();
      stores.push(store);
      return store;
    });
  });
