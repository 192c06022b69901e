/** Rows that workers hold, on PostgreSQL: a change by one node reaches the workers of the other one, also after the server was away. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "../helpers/commanded.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import type { Report } from "../helpers/roster.ts";
import { serve, until } from "../helpers/serving.ts";
import { SourceCopy } from "../helpers/source-copy.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`rows of features on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("rows that workers hold on PostgreSQL", async () => {
    const server = await startPostgres();
    const copy = new SourceCopy();
    copy.take("test/helpers/roster.ts", "test/helpers/commanded.ts");
    copy.add("roster", "test/helpers/roster.ts");
    afterAll(async () => {
      copy.remove();
      await server.close();
    });

    test("are equal on two nodes, whoever changes them", async () => {
      const url = await server.createDatabase();
      const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), "weir-roster-state-")));
      const open = (at: number, workers: number) => {
        const config = JSON.stringify({ log: { format: "json" }, state: folders[at], store: { url } });
        return serve({ root: copy.root, workers, binary: false, config });
      };
      const nodes = [await open(0, 2), await open(1, 1)];
      const report = (at: number) => command<Report>(nodes[at]!.url, { show: true });
      const set = (at: number, people: Record<string, string | null>) =>
        command(nodes[at]!.url, { set: people });
      /** Whether ten answers of each node have these people: of two workers each has answered. */
      const agree = (people: Record<string, string>, ms: number) =>
        until(async () => {
          const all = await Promise.all(Array.from({ length: 20 }, (_, n) => report(n % 2)));
          return all.every(
            ({ rows, isCurrent }) =>
              isCurrent && Bun.deepEquals(Object.fromEntries(rows.map(({ id, name }) => [id, name])), people),
          );
        }, ms);
      try {
        expect(await agree({}, 10_000)).toBe(true);
        await set(0, { a: "Anna" });
        expect(await agree({ a: "Anna" }, 2_000)).toBe(true);
        await set(1, { a: "Anna II", b: "Bea" });
        expect(await agree({ a: "Anna II", b: "Bea" }, 2_000)).toBe(true);
        await set(0, { b: null });
        expect(await agree({ a: "Anna II" }, 2_000)).toBe(true);

        // Both nodes change the same rows: the order is that of the store.
        const many = Array.from({ length: 60 }, (_, n) => set(n % 2, { c: `${n}`, [`d${n % 5}`]: `${n}` }));
        await Promise.all(many);
        const same = async () => {
          const all = await Promise.all(Array.from({ length: 20 }, (_, n) => report(n % 2)));
          const sorted = all.map(({ rows }) =>
            JSON.stringify(rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))),
          );
          return all[0]!.rows.length === 7 && new Set(sorted).size === 1;
        };
        expect(
          await until(async () => (await same()) && (await Bun.sleep(1_000), await same()), 30_000),
        ).toBe(true);

        // A node that was away has what happened meanwhile.
        nodes[1]!.signal("SIGTERM");
        expect(await nodes[1]!.exited).toBe(0);
        await nodes[1]!.end();
        await set(0, { c: null, d0: null, d1: null, d2: null, d3: null, d4: null });
        nodes[1] = await open(1, 1);
        expect(await agree({ a: "Anna II" }, 10_000)).toBe(true);
      } finally {
        for (const node of nodes) await node.end();
        for (const folder of folders) rmSync(folder, { recursive: true });
      }
    });
  });
