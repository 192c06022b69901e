/** The connection to PostgreSQL: values, bulk inserts, transactions of several nodes, and a server that stops or freezes. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { migratePostgres } from "../../src/keeper/store/postgres/migrate.ts";
import { StoreLost } from "../../src/keeper/store/store.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";

setDefaultTimeout(120_000);

const thrown = (pending: Promise<unknown>): Promise<Error> =>
  pending.then(
    () => new Error("nothing was thrown"),
    (fault: Error) => fault,
  );

if (missingPostgres) test.skip(`the connection to PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("the connection to PostgreSQL", async () => {
    const server = await startPostgres();
    const sql = new Postgres(server.url);
    await migratePostgres(sql, "test", [
      "CREATE TABLE weir.sample (id bigint PRIMARY KEY, name text, data bytea, level double precision); CREATE TABLE weir.other (id bigint)",
    ]);
    afterAll(async () => {
      await sql.close();
      await server.close();
    });

    test("integers up to 2^53 come back as numbers, bytes as bytes, JSON as text", async () => {
      await sql.insert(
        "sample",
        ["id", "name", "data", "level"],
        [
          [2 ** 53 - 1, 'ä "語" \\ \n', new Uint8Array([0, 255, 92]), 0.25],
          [1, null, null, 3],
        ],
      );
      const rows = await sql.all("SELECT * FROM sample ORDER BY id");
      expect(Array.from(rows)).toEqual([
        { id: 1, name: null, data: null, level: 3 },
        { id: 2 ** 53 - 1, name: 'ä "語" \\ \n', data: Buffer.from([0, 255, 92]), level: 0.25 },
      ]);
      const [json] = await sql.all(`SELECT '{"a": [1]}'::jsonb AS value`);
      expect(json).toEqual({ value: '{"a":[1]}' });
    });

    test("a parameter may be small in one call and large in the next", async () => {
      await sql.insert("other", ["id"], [[1]]);
      for (const id of [2 ** 40, 7, 2 ** 52]) expect(await sql.run("UPDATE other SET id = $1", [id])).toBe(1);
      expect((await sql.all("SELECT id FROM other"))[0]).toEqual({ id: 2 ** 52 });
    });

    test("text that PostgreSQL cannot store is stored with replacement characters, in bulk and alone", async () => {
      await sql.insert("sample", ["id", "name"], [[10, "a\0b\ud800c"]]);
      await sql.run("INSERT INTO sample (id, name) VALUES ($1, $2)", [11, "a\0b\ud800c"]);
      const rows = await sql.all("SELECT name FROM sample WHERE name = $1", ["a\0b\ud800c"]);
      expect(rows.map(({ name }) => name)).toEqual(["a\ufffdb\ufffdc", "a\ufffdb\ufffdc"]);
    });

    test("a thousand rows are one statement, and a conflict is left out where the statement says so", async () => {
      const rows = Array.from({ length: 1_000 }, (_, n) => [1_000 + n, `row ${n}`]);
      await sql.insert("sample", ["id", "name"], rows);
      await sql.insert("sample", ["id", "name"], [...rows, [3_000, "new"]], "ON CONFLICT DO NOTHING");
      expect((await sql.all("SELECT count(*) AS n FROM sample WHERE id >= 1000 AND id < 4000"))[0]).toEqual({
        n: 1_001,
      });
    });

    test("a transaction that fails changes nothing", async () => {
      const fault = await thrown(
        sql.transaction(async (tx) => {
          await tx.run("INSERT INTO sample (id) VALUES (20)");
          throw new Error("no");
        }),
      );
      expect(fault.message).toBe("no");
      expect(await sql.all("SELECT 1 FROM sample WHERE id = 20")).toHaveLength(0);
    });

    test("transactions that lock each other's rows both succeed", async () => {
      await sql.insert(
        "sample",
        ["id", "level"],
        [
          [30, 0],
          [31, 0],
        ],
      );
      const add = (first: number, second: number) =>
        sql.transaction(async (tx) => {
          for (const id of [first, second]) {
            await tx.run("UPDATE sample SET level = level + 1 WHERE id = $1", [id]);
            await Bun.sleep(50);
          }
        });
      await Promise.all([add(30, 31), add(31, 30)]);
      const rows = await sql.all("SELECT level FROM sample WHERE id IN (30, 31)");
      expect(rows.map(({ level }) => level)).toEqual([2, 2]);
    });

    test("notices of another node arrive", async () => {
      const other = new Postgres(server.url);
      const notices: string[] = [];
      const arrived = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      const stop = await sql.listen(
        "weir",
        (text) => {
          notices.push(text);
          arrived.resolve();
        },
        ended.resolve,
      );
      await other.notify("weir", "policy:7");
      await arrived.promise;
      expect(notices).toEqual(["policy:7"]);
      stop();
      await ended.promise;
      await other.close();
    });

    test("nodes that start together create the tables once, and a newer schema is refused", async () => {
      const url = await server.createDatabase();
      const nodes = Array.from({ length: 4 }, () => new Postgres(url));
      await Promise.all(
        nodes.map((node) => migratePostgres(node, "x", ["CREATE TABLE weir.one (id bigint)"])),
      );
      await migratePostgres(nodes[0]!, "x", ["not run again", "CREATE TABLE weir.two (id bigint)"]);
      expect((await thrown(migratePostgres(nodes[1]!, "x", ["older"]))).message).toContain(
        "was written by a newer version of weir (schema 2; this version knows 1)",
      );
      for (const node of nodes) await node.close();
    });

    test("a server that cannot be reached, a wrong database: each is one sentence without the password", async () => {
      const away = new Postgres("postgres://weir:secret@127.0.0.1:1/weir");
      const wrong = new Postgres(server.url.replace(/\/weir$/, "/absent").replace("weir@", "weir:secret@"));
      const [gone, absent] = await Promise.all([thrown(away.all("SELECT 1")), thrown(wrong.all("SELECT 1"))]);
      expect(gone).toBeInstanceOf(StoreLost);
      expect(gone.message).toContain("PostgreSQL cannot be reached");
      expect(absent.message).toContain('database "absent" does not exist');
      expect(gone.message + absent.message).not.toContain("secret");
    });

    test("a frozen server does not hang a query, a transaction or a commit, and works again when it thaws", async () => {
      const impatient = new Postgres(server.url, { queryMs: 500 });
      await impatient.all("SELECT 1");
      let isFrozen = false;
      const commit = impatient.transaction(async (tx) => {
        await tx.run("INSERT INTO other VALUES (1)");
        server.freeze();
        isFrozen = true;
      });
      const faults = await Promise.all([
        thrown(commit),
        thrown(impatient.all("SELECT pg_sleep(10)")),
        thrown(impatient.transaction((tx) => tx.all("SELECT pg_sleep(10)"))),
      ]);
      expect(isFrozen).toBe(true);
      for (const fault of faults) expect(fault).toBeInstanceOf(StoreLost);
      server.thaw();
      let works = false;
      for (let tries = 0; tries < 100 && !works; tries++)
        works = await impatient.all("SELECT 1").then(
          () => true,
          () => false,
        );
      expect(works).toBe(true);
      await impatient.close();
    });

    test("a server that was stopped is used again when it is back", async () => {
      await server.stop();
      expect(await thrown(sql.all("SELECT 1"))).toBeInstanceOf(StoreLost);
      expect(await thrown(sql.transaction((tx) => tx.all("SELECT 1")))).toBeInstanceOf(StoreLost);
      await server.start();
      const began = performance.now();
      while ((await thrown(sql.all("SELECT 1"))) instanceof StoreLost)
        expect(performance.now() - began).toBeLessThan(20_000);
    });
  });
