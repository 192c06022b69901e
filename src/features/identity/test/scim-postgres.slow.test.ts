/** SCIM with PostgreSQL as the store. */
import { afterAll, describe, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { describeScim } from "./scim-suite.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`SCIM in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("in PostgreSQL", async () => {
    const server = await startPostgres();
    describeScim(2, () => server.createDatabase());
    afterAll(() => server.close());
  });
