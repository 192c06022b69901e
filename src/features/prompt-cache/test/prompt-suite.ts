/** What the store of the books keeps of prompts: the same with both databases. */
import { describe, expect, test } from "bun:test";
import { SECTION_BYTES } from "../../../core/section-hash.ts";
import { firstNumber } from "../../../keeper/store/numbers.ts";
import { deleteKept, removeKey } from "../../../keeper/record/deletion.ts";
import { Reports } from "../../../keeper/reports/reports.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import type { NamedTables } from "../../../keeper/seams.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { cacheReport } from "../report.ts";
import { cacheSession, cacheSessions } from "../sessions.ts";
import { tables } from "../tables.ts";
import { attempt, batch, call, commit, NOW } from "../../../../test/keeper/books/make.ts";

const DAY = 86_400_000;

/** Each letter of `turns` is a section. */
export function prompted(
  session: string,
  turns: string,
  at: number,
  read: number,
  changes: Partial<CallRecord> = {},
) {
  const hashes = new Uint8Array(turns.length * SECTION_BYTES);
  for (const [index, letter] of [...turns].entries())
    hashes.fill(letter.charCodeAt(0), index * SECTION_BYTES, (index + 1) * SECTION_BYTES);
  const usage = { input: 100, cacheRead: read, cacheWrite: 10_000 - read, output: 5, reasoning: 0 };
  return call({
    startedAt: NOW + at,
    session: session.padEnd(16, "0"),
    client: "agent/1",
    prompt: {
      parts: [["messages", turns.length]],
      head: 0,
      hashes: hashes.toBase64(),
      saved: 7,
      dearer: { write: 3 * (10_000 - read), input: 100 },
    },
    attempts: [attempt({ usage })],
    ...changes,
  });
}

export const TABLES: readonly NamedTables[] = [{ feature: "prompt-cache", tables }];

/** @param open opens an empty store with {@link TABLES} at the time {@link NOW} */
export function describePrompts(open: () => Promise<SqlStore>): void {
  describe("prompts", () => {
    const write = async (...batches: CallRecord[][]) => {
      const store = await open();
      for (const [at, calls] of batches.entries())
        await store.commit(commit({ batches: [batch(at + 1, calls)] }));
      return { store, reports: new Reports(store.sql, store.sql, () => NOW, undefined, TABLES) };
    };

    test("are compared with the one before, in one commit and over several", async () => {
      const first = prompted("a", "xy", 0, 0);
      const second = prompted("a", "xyz", 1_000, 10_000);
      const third = prompted("a", "xYzq", 2_000, 4_000);
      for (const batches of [
        [[first, second, third]],
        [[first], [second], [third]],
        [[third, second, first]],
      ]) {
        const { reports } = await write(...batches);
        const breaks = [first, second, third].map(async ({ id }) => (await reports.call(id))?.cacheBreak);
        expect(await Promise.all(breaks)).toEqual([
          undefined,
          undefined,
          { reason: "changed", section: "messages[1]", afterMs: 979, tokens: 6_000, cost: 18_000 },
        ]);
      }
    });

    test("add up by day, and the reason that cost most is named", async () => {
      const { reports } = await write(
        [prompted("a", "xy", 0, 0), prompted("b", "pq", 0, 0, { key: "key_b", path: "/ops" })],
        [prompted("a", "Xy", 1_000, 0), prompted("b", "pq", 10 * 60_000, 0, { key: "key_b", path: "/ops" })],
      );
      const { rows, total, from } = await reports.read((sql, names) =>
        cacheReport(sql, names, { by: ["key", "day"], from: NOW }),
      );
      expect(from).toBe(Math.floor(NOW / DAY) * DAY);
      expect(total).toMatchObject({
        calls: 4,
        breaks: 2,
        lost: 20_000,
        lostCost: 60_000,
        saved: 28,
        cacheWrite: 40_000,
      });
      expect(rows.map(({ group, commonest }) => [group, commonest?.reason, commonest?.section])).toEqual([
        [{ key: "key_a", day: "2026-11-15" }, "changed", "messages"],
        [{ key: "key_b", day: "2026-11-15" }, "expired", undefined],
      ]);
      const within = await reports.read((sql, names) =>
        cacheReport(sql, names, { by: ["client"], within: "/ops" }),
      );
      expect(within.rows).toMatchObject([{ group: { client: "agent/1" }, calls: 2, breaks: 1 }]);
      const { sessions } = await reports.read((sql, names) =>
        cacheSessions(sql, names, { within: "/ops", limit: 10 }),
      );
      expect(sessions.map(({ session, path }) => [session, path])).toEqual([["b".padEnd(16, "0"), "/ops"]]);
      const detail = await reports.read((sql, names) => cacheSession(sql, names, "a".padEnd(16, "0")));
      expect(detail!.calls.map(({ cacheRead, break: lost }) => [cacheRead, lost?.reason])).toEqual([
        [0, undefined],
        [0, "changed"],
      ]);
      expect(await reports.read((sql, names) => cacheSession(sql, names, "f".repeat(16)))).toBeUndefined();
      expect(
        (await reports.read((sql, names) => cacheReport(sql, names, { by: [], to: NOW - DAY }))).total.calls,
      ).toBe(0);
    });

    test("of more than 50,000 calls that read too little, the newest that a filter selects are looked at", async () => {
      const { store, reports } = await write([prompted("a", "xy", 0, 0)]);
      const columns = ["number", "at", "session", "caller", "client", "target", "reason"];
      const zeros = ["after_ms", "tokens", "cost"];
      const session = Buffer.alloc(8, 1);
      const rows = Array.from({ length: 50_010 }, (_, at) => [
        ...[firstNumber(NOW) + at, NOW + at, session, 1, 0, 1, 0],
        ...zeros.map(() => 1),
      ]);
      for (let from = 0; from < rows.length; from += 1_000)
        await store.sql.insert("cache_breaks", [...columns, ...zeros], rows.slice(from, from + 1_000));
      const all = await reports.read((sql, names) => cacheSessions(sql, names, { limit: 10 }));
      expect([all.sessions[0]!.breaks, all.reasonsFrom]).toEqual([50_000, NOW + 10]);
      expect((await reports.read((sql, names) => cacheReport(sql, names, { by: ["key"] }))).reasonsFrom).toBe(
        NOW + 10,
      );
      const early = await reports.read((sql, names) => cacheSessions(sql, names, { limit: 10, to: NOW + 5 }));
      expect([early.sessions[0]!.breaks, early.reasonsFrom]).toEqual([5, undefined]);
    });

    test("of a key that is removed are forgotten, and their sums stay", async () => {
      const { store, reports } = await write([prompted("a", "xy", 0, 0)], [prompted("a", "Xy", 1_000, 0)]);
      await removeKey(store.sql, "key_a", () => Promise.resolve(), TABLES);
      expect(
        await store.sql.all("SELECT 1 AS found FROM prompts UNION ALL SELECT 1 FROM cache_breaks"),
      ).toEqual([]);
      const { rows } = await reports.read((sql, names) => cacheReport(sql, names, { by: ["key"] }));
      expect(rows).toMatchObject([{ group: { key: "removed" }, calls: 2, breaks: 1 }]);
    });

    test("are deleted by age", async () => {
      const { store } = await write([prompted("a", "xy", 0, 0)], [prompted("a", "Xy", 1_000, 0)]);
      const deleted = async (sessions: number, calls: number) => {
        const cuts = { sessions, calls, hours: 0, positions: 0 };
        const rows: number[] = [];
        for (const kept of tables.kept!) rows.push(await deleteKept(store.sql, kept, cuts));
        return rows;
      };
      expect(await deleted(NOW, 0)).toEqual([0, 0]);
      expect(await deleted(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toEqual([1, 1]);
    });
  });
}
