/** A role that owns one schema and nothing else, over TLS with an authority of its own: books, stored answers and notices. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { sentenceOf } from "../../src/keeper/store/postgres/faults.ts";
import { openPostgres } from "../../src/keeper/store/postgres/store.ts";
import { type RunningBooks, startBooks } from "../books/running.ts";
import { AUTHORITY, SERVER } from "../helpers/authority.ts";
import { FIRST } from "../helpers/certificates.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`PostgreSQL with TLS: ${missingPostgres}`, () => {});
else
  describe("PostgreSQL with TLS", async () => {
    const server = await startPostgres({
      ...{ listen: "*", tls: SERVER },
      access: ["hostnossl all guarded 0.0.0.0/0 reject", "hostssl all guarded 0.0.0.0/0 trust"],
    });
    const folder = mkdtempSync(join(tmpdir(), "weir-tls-"));
    const [own, other] = [join(folder, "own.pem"), join(folder, "other.pem")];
    writeFileSync(own, AUTHORITY);
    writeFileSync(other, FIRST.cert);
    const owner = new Postgres(server.url, { connections: 1 });
    const running: RunningBooks[] = [];

    afterEach(async () => {
      for (const gateway of running.splice(0)) await gateway.end();
    });

    afterAll(async () => {
      await owner.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    await owner.run("CREATE ROLE guarded LOGIN; CREATE SCHEMA weir AUTHORIZATION guarded");
    await owner.run("REVOKE ALL ON DATABASE weir FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC");
    await owner.run("GRANT CONNECT ON DATABASE weir TO guarded");

    const urlOf = (how: string, host = "127.0.0.1") =>
      `postgres://guarded@${host}:${server.port}/weir${how && `?${how}`}`;
    const verified = urlOf(`sslmode=verify-full&sslrootcert=${own}`);
    /** @returns the sentence for the operator, if it cannot be used */
    const judge = async (url: string) => {
      try {
        await (await openPostgres(url, Date.now, { connections: 1 })).close();
        return "used";
      } catch (cause) {
        return sentenceOf(cause);
      }
    };

    test("without TLS, with another authority and for another name it is not used, and the sentence says why", async () => {
      expect(await judge(urlOf(""))).toMatch(/^PostgreSQL refused the login: .*no encryption/);
      const untrusted = "its certificate is not trusted for this host";
      expect(await judge(urlOf("sslmode=verify-full"))).toContain(untrusted);
      expect(await judge(urlOf(`sslmode=verify-full&sslrootcert=${other}`))).toContain(untrusted);
      // The certificate is for 127.0.0.1 and localhost.
      const elsewhere = await judge(urlOf(`sslmode=verify-full&sslrootcert=${own}`, "127.0.0.2"));
      expect(elsewhere).toContain(untrusted);
      expect(await judge(urlOf(`sslmode=require`, "127.0.0.2"))).toBe("used");
      expect(await judge(verified)).toBe("used");
    });

    test("two gateways share keys, budgets and stored answers, and leave nothing outside of the schema", async () => {
      const config = { store: { url: verified }, cluster: true, admin: {} };
      for (const _ of [1, 2]) running.push(await startBooks({ workers: 1, config }));
      const [first, second] = running as [RunningBooks, RunningBooks];
      const key = first.createKey("app", "--budget", "10", "--hard");
      const ask = async ({ url }: RunningBooks, body: object) => {
        const response = await fetch(`${url}/v1/responses`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "mock/recall", ...body }),
        });
        return { status: response.status, json: (await response.json()) as { id: string } };
      };
      // A key of one gateway is a notice to the other, over a connection of its own.
      expect(await until(async () => (await ask(second, { input: "hello" })).status === 200)).toBe(true);
      const { json } = await ask(first, { input: "My name is Ada." });
      const next = await ask(second, { input: "My name?", previous_response_id: json.id });
      expect(JSON.stringify(next.json)).toContain("Ada");
      const plain = await owner.all(
        `SELECT 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'guarded' AND NOT ssl`,
      );
      expect(plain).toEqual([]);
      const elsewhere = await owner.all(
        `SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
         WHERE pg_get_userbyid(relowner) = 'guarded' AND nspname NOT IN ('weir', 'pg_toast')`,
      );
      expect(elsewhere).toEqual([]);
    });
  });
