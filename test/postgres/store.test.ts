/** The store of the books in PostgreSQL. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { DEFAULT_KEEP } from "../../src/ledger/keep.ts";
import { ServerRetention } from "../../src/keeper/store/postgres/retention.ts";
import { auditBooks } from "../../src/keeper/reports/audit.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import type { NamedTables } from "../../src/keeper/seams.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { attempt, batch, call, commit, draw, MONTH, NOW } from "../keeper/books/make.ts";
import { describeCallSearch } from "../keeper/books/call-search-suite.ts";
import { describeFeatures, writing } from "../keeper/books/feature-suite.ts";
import { describeBooks } from "../keeper/books/store-suite.ts";

setDefaultTimeout(120_000);

const A = budgetAccount("a", MONTH);

if (missingPostgres) test.skip(`the books in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("the books in PostgreSQL", async () => {
    const server = await startPostgres();
    const stores: SqlStore[] = [];
    // The server has a hundred connections.
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
    });
    afterAll(() => server.close());

    async function open(
      url?: string,
      node = "one",
      slot = 0,
      tables: readonly NamedTables[] = [],
    ): Promise<SqlStore> {
      const store = postgresStore(url ?? (await server.createDatabase()), {
        node,
        slot: () => slot,
        now: () => NOW,
        ...{ connections: 2, tables },
      });
      await store.open();
      stores.push(store);
      return store;
    }

    describeCallSearch(() => open());

    test("calls are found by the value of a column", async () => {
      const store = await open();
      const values = ["a", "a'\"\u0000\ud800é"];
      const named = (["tool", "upstreamId"] as const).flatMap((name) =>
        values.map((value) => ({ [name]: value })),
      );
      const records = named.map((columns, at) => Object.assign(call({ id: `req_${at}` }), columns));
      await store.commit(commit({ batches: [batch(1, records)] }));
      const reports = new Reports(store.sql, store.sql, () => NOW);
      for (const [at, columns] of named.entries()) {
        const { calls } = await reports.calls({ limit: 9, columns });
        expect(calls.map(({ id }) => id)).toEqual([`req_${at}`]);
      }
    });

    test("reports of the console read PostgreSQL as they read a file", async () => {
      const store = await open();
      const calls = [10, 20].map((firstMs) =>
        call({ firstMs, client: "sdk/1", session: "00000000000000aa" }),
      );
      const failed = call({ status: 500, outcome: "failed", error: { kind: "upstream", code: "x" } });
      const tried = call({ attempts: [attempt({ class: "no-bytes" }, { state: "assumed" }), attempt()] });
      await store.commit(commit({ batches: [batch(1, [...calls, failed, tried])] }));
      const reports = new Reports(store.sql, store.sql, () => NOW);
      const range = { from: NOW - 1_000, to: NOW + 1_000 };
      const found = async (filter: object) =>
        (await reports.calls({ limit: 9, ...range, ...filter })).calls.length;
      expect(await found({ session: "00000000000000aa", client: "sdk" })).toBe(2);
      expect(await found({ state: "uncertain", provider: "mock" })).toBe(1);
      expect(await found({ text: { text: failed.id, keys: [] } })).toBe(1);
      expect(await found({ text: { text: "ECH", keys: [] }, retried: false, losses: false })).toBe(3);
      const summary = await reports.summary({ ...range, state: "uncertain", slices: 2 });
      expect(summary).toMatchObject({ calls: 1, retried: 1, uncertain: 200_000 });
      const { deployments } = await reports.deployments({ ...range, within: "/", slices: 2 });
      expect(deployments).toMatchObject([
        {
          calls: 5,
          failed: 2,
          latency: { calls: 2, p50: 10, p95: 20, total50: 21 },
          lastError: { code: "x" },
        },
      ]);
      expect(await reports.names("/eng")).toMatchObject({ models: ["echo"], asked: [] });
    });

    describeBooks(
      (place) => open(place),
      () => server.createDatabase(),
    );

    describeFeatures(
      (tables, place) => open(place, "one", 0, tables),
      () => server.createDatabase(),
    );

    test("a statement of a feature that takes five seconds is ended, and the server is not lost", async () => {
      const sleeps = writing(async (sql) => void (await sql.all("SELECT pg_sleep(5)")));
      const store = await open(undefined, "one", 0, [sleeps]);
      const began = performance.now();
      await store.commit(commit({ batches: [batch(1, [call()])] }));
      expect(performance.now() - began).toBeLessThan(4_000);
      expect(await store.sql.all("SELECT count(*) AS rows FROM calls")).toEqual([{ rows: 1 }]);
      expect(await store.sql.all("SELECT count(*) AS rows FROM other")).toEqual([{ rows: 0 }]);
    });

    test("draws of two nodes never pass the limit of a hard budget, for 500 draws at once", async () => {
      const url = await server.createDatabase();
      const nodes = [await open(url, "one"), await open(url, "two")];
      const need = DOLLAR / 100;
      const drawn = await Promise.all(
        Array.from({ length: 500 }, (_, n) => nodes[n % 2]!.draw([draw(A, { need, want: need })])),
      );
      expect(drawn.filter(([one]) => one!.amount === need)).toHaveLength(100);
      const [[one], [two]] = [await nodes[0]!.accounts(NOW), await nodes[1]!.accounts(NOW)];
      expect([one!.granted, one!.own + two!.own]).toEqual([DOLLAR, DOLLAR]);
    });

    test("two nodes that commit at the same time lose nothing, and their calls have numbers of their own", async () => {
      const url = await server.createDatabase();
      const nodes = [await open(url, "one", 0), await open(url, "two", 1)];
      const commits = Array.from({ length: 20 }, (_, n) => {
        const records = Array.from({ length: 10 }, (_, at) =>
          call({ path: `/p${at % 3}`, attempts: [attempt({ accounts: [A, budgetAccount("b", MONTH)] })] }),
        );
        return nodes[n % 2]!.commit(commit({ batches: [batch(1, records, `life${n}`)] }));
      });
      await Promise.all(commits);
      const [rows] = await nodes[0]!.sql.all("SELECT count(*) AS calls, sum(cost) AS cost FROM calls");
      expect(rows).toEqual({ calls: 200, cost: 200 * 200_000 });
      const [hours] = await nodes[0]!.sql.all("SELECT sum(calls) AS calls, sum(cost) AS cost FROM use_hour");
      expect(hours).toEqual({ calls: 200, cost: 200 * 200_000 });
      const accounts = await nodes[1]!.accounts(NOW);
      expect(accounts.map(({ spent }) => spent)).toEqual([200 * 200_000, 200 * 200_000]);
    });

    test("the calls of a day are in the partition of the day", async () => {
      const store = await open();
      await store.commit(commit({ batches: [batch(1, [call()])] }));
      expect(await store.sql.all("SELECT count(*) AS rows FROM calls_20261115")).toEqual([{ rows: 1 }]);
    });

    test("retention drops the partition of a day, and the audit still holds", async () => {
      const url = await server.createDatabase();
      const day = 86_400_000;
      const at = async (now: number, seq: number) => {
        const store = postgresStore(url, { node: "one", now: () => now, connections: 1 });
        await store.open();
        const records = [1, 2].map(() =>
          call({ startedAt: now, attempts: [attempt({ accounts: [A] }), attempt()] }),
        );
        await store.commit(commit({ batches: [batch(seq, records)] }));
        await store.close();
      };
      await at(NOW - 100 * day, 1);
      await at(NOW, 2);
      const sql = new Postgres(url, { connections: 2 });
      const retention = new ServerRetention(sql, () => NOW);
      // The config is not known yet: it may want more.
      expect(await retention.slice()).toBe(0);
      retention.keep = DEFAULT_KEEP;
      let deleted = 0;
      for (let rows = 1; rows > 0; deleted += rows) rows = await retention.slice();
      retention.stop();
      expect(deleted).toBeGreaterThan(0);
      expect(await sql.all("SELECT count(*) AS calls FROM calls")).toEqual([{ calls: 2 }]);
      expect(await sql.all("SELECT to_regclass('calls_20260807') AS gone")).toEqual([{ gone: null }]);
      const { checks } = await auditBooks(sql);
      expect(checks.filter(({ holds }) => !holds)).toEqual([]);
      await sql.close();
    });

    test("a name that is too long for a key of the index is stored", async () => {
      const store = await open();
      const model = Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2, 3)).join("");
      await store.commit(commit({ batches: [batch(1, [call({ model }), call({ model })])] }));
      await store.commit(commit({ batches: [batch(2, [call({ model, error: { kind: "a\0b\ud800" } })])] }));
      expect(await store.sql.all("SELECT count(*) AS rows FROM calls")).toEqual([{ rows: 3 }]);
      expect(await store.sql.all("SELECT count(*) AS rows FROM names WHERE kind = 'model'")).toEqual([
        { rows: 1 },
      ]);
    });
  });
