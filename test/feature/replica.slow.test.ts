/** A table of a feature in a copy of the source, whose rows every worker holds. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command as send } from "../helpers/commanded.ts";
import { serve, until } from "../helpers/serving.ts";
import { SourceCopy } from "../helpers/source-copy.ts";
import type { Command, Report } from "../helpers/roster.ts";

setDefaultTimeout(120_000);

let copy: SourceCopy;

beforeAll(() => {
  copy = new SourceCopy();
  copy.take("test/helpers/roster.ts", "test/helpers/commanded.ts");
  copy.add("roster", "test/helpers/roster.ts");
});

afterAll(() => copy.remove());

test.each([1, 2])(
  "with %i workers, a change reaches all, and a restart of the keeper loses none",
  async (workers) => {
    const state = mkdtempSync(join(tmpdir(), "weir-replica-state-"));
    const config = JSON.stringify({ log: { format: "json" }, state });
    let gateway = await serve({ root: copy.root, workers, binary: false, config });
    const command = (given: Command) => send<Report>(gateway.url, given);
    /** Reports of all workers. */
    const reports = async () => {
      const all = new Map<number, Report>();
      for (let tries = 0; tries < 200 && all.size < workers; tries++) {
        const report = await command({ show: true });
        all.set(report.worker, report);
      }
      return [...all.values()];
    };
    /** Whether every worker has these people, and knows that it has. */
    const agree = async (people: Record<string, string>, ms = 1_000) =>
      until(async () => {
        const all = await reports();
        return all.every(
          ({ rows, isComplete, isCurrent }) =>
            isComplete &&
            isCurrent &&
            Bun.deepEquals(Object.fromEntries(rows.map(({ id, name }) => [id, name])), people),
        );
      }, ms);
    try {
      expect(await agree({}, 5_000)).toBe(true);
      await command({ set: { a: "Anna", b: "Bea" } });
      expect(await agree({ a: "Anna", b: "Bea" })).toBe(true);
      await command({ set: { a: null, b: "Beatrix" } });
      expect(await agree({ b: "Beatrix" })).toBe(true);
      expect((await reports()).every(({ heard }) => heard.toSorted().join() === "a,b")).toBe(true);

      await command({ refuse: "c" });
      expect(await until(() => gateway.log.some((line) => line.includes("planted: the work failed")))).toBe(
        true,
      );
      expect(await agree({ b: "Beatrix" })).toBe(true);
      // The last of many changes counts.
      const many = Array.from({ length: 1_000 }, (_, at) => String(at));
      await command({ set: { z: "first" } });
      await Promise.all(many.map((name) => command({ set: { z: name } })));
      // A worker under load may send its last one long after the others have sent theirs.
      expect(await until(() => entriesOf(state, "z") === 1_001, 30_000)).toBe(true);
      await command({ set: { z: "last" } });
      expect(await agree({ b: "Beatrix", z: "last" }, 10_000)).toBe(true);

      if (workers > 1) {
        const killed = gateway.keeper()!;
        process.kill(killed, "SIGKILL");
        expect(await until(() => ![undefined, killed].includes(gateway.keeper()))).toBe(true);
        expect(await until(async () => (await reports()).every(({ isCurrent }) => isCurrent), 10_000)).toBe(
          true,
        );
        expect(await agree({ b: "Beatrix", z: "last" })).toBe(true);
        // A message to a keeper that was killed is lost, so the change is made again until it counts.
        const makes = async () => {
          await command({ set: { d: "Dora" } });
          return agree({ b: "Beatrix", z: "last", d: "Dora" }, 500);
        };
        expect(await until(makes, 10_000)).toBe(true);
        expect(await agree({ b: "Beatrix", z: "last", d: "Dora" })).toBe(true);
        await command({ set: { d: null } });
        expect(await agree({ b: "Beatrix", z: "last" })).toBe(true);
      }
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      await gateway.end();
      expect(["a", "b", "c", "z"].map((id) => entriesOf(state, id))).toEqual([2, 2, 0, 1_002]);
      gateway = await serve({ root: copy.root, workers, binary: false, config });
      expect(await agree({ b: "Beatrix", z: "last" }, 5_000)).toBe(true);
    } finally {
      await gateway.end();
      rmSync(state, { recursive: true });
    }
  },
);

/** How many entries of the audit are of one person. */
function entriesOf(state: string, id: string): number {
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const subject = `roster/${id}`;
  const found = db.query<{ count: number }, [string]>(
    "SELECT count(*) AS count FROM audit WHERE subject = ?",
  );
  const { count } = found.get(subject)!;
  db.close();
  return count;
}
