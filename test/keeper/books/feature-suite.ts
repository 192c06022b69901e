/** What the store of the books promises about tables of features: the same with both databases. */
import { describe, expect, test } from "bun:test";
import { callersOf } from "../../../src/keeper/record/due.ts";
import { deleteKept, removeKey } from "../../../src/keeper/record/deletion.ts";
import { auditBooks } from "../../../src/keeper/reports/audit.ts";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import type { FeatureTables, NamedTables } from "../../../src/keeper/seams.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import type { LostRows } from "../../../src/keeper/store/store.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { attempt, batch, call, commit, MONTH, NOW } from "./make.ts";

const A = budgetAccount("a", MONTH);

/** A feature with one row for each call that has a session. */
export function words(changes: Partial<FeatureTables> = {}, feature = "words"): NamedTables {
  const table = feature;
  return {
    feature,
    tables: {
      migrations: [
        `CREATE TABLE ${table} (number {INT} PRIMARY KEY, caller {INT} NOT NULL, tool {INT} NOT NULL) {KEYED}`,
      ],
      copied: [table],
      recovered: [table],
      commit: {
        takes: ({ session }) => session !== undefined,
        names: () => [["client", `tool of ${feature}`]],
        async write(sql, names, calls) {
          const tool = names.id("client", `tool of ${feature}`);
          const [caller] = await callersOf(sql, "key_a");
          const rows = calls.map(({ number }) => [number, caller!, tool]);
          await sql.insert(table, ["number", "caller", "tool"], rows);
        },
      },
      kept: [{ table, key: ["number"], old: ({ calls }) => `number < ${calls}`, of: (own) => own }],
      join: async (_, numbers) => new Map(numbers.map((number) => [number, { words: 3 }])),
      ...changes,
    },
  };
}

/** A feature whose rows are written by a function of the test. */
export const writing = (
  write: NonNullable<FeatureTables["commit"]>["write"],
  takes = () => true,
): NamedTables => words({ commit: { takes, write } }, "other");

/** @param open opens a store with these tables: an empty one, or the one that is at a place @param fresh an unused place */
export function describeFeatures(
  open: (tables: readonly NamedTables[], place?: string) => Promise<SqlStore>,
  fresh: () => Promise<string>,
): void {
  const charged = () => call({ session: "00000000000000aa", attempts: [attempt({ accounts: [A] })] });
  const events = (lost: LostRows[]) => ({
    ...{ changed() {}, recall: async () => 0, settle: async () => {}, state() {} },
    lost: (rows: LostRows) => void lost.push(rows),
  });
  const rowsOf = async ({ sql }: SqlStore, table: string) =>
    (await sql.all<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))[0]!.rows;
  /** Commits one call after another. @returns what the store lost of features */
  const commitAll = async (store: SqlStore, ...calls: ReturnType<typeof call>[]) => {
    const lost: LostRows[] = [];
    store.watch(events(lost));
    await store.draw([
      { account: A, budget: "a", startsAt: MONTH, limit: 1e12, hard: true, need: 1e9, want: 1e9 },
    ]);
    for (const [at, one] of calls.entries()) await store.commit(commit({ batches: [batch(at + 1, [one])] }));
    return lost;
  };
  /** Calls, charges and budgets agree. */
  const expectCharged = async (store: SqlStore, calls: number) => {
    expect(await rowsOf(store, "calls")).toBe(calls);
    expect(await store.accounts(NOW)).toMatchObject([{ account: A, spent: calls * 200_000 }]);
    const { checks } = await auditBooks(store.sql);
    expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  };

  describe("tables of features", () => {
    test("have a row for each call that the feature takes, and join its record", async () => {
      const store = await open([words()]);
      const [one, none] = [charged(), call({ attempts: [attempt({ accounts: [A] })] })];
      expect(await commitAll(store, one, none)).toEqual([]);
      await expectCharged(store, 2);
      expect(await rowsOf(store, "words")).toBe(1);
      const reports = new Reports(store.sql, store.sql, () => NOW, undefined, store.tables);
      expect(await reports.call(one.id)).toMatchObject({ id: one.id, words: 3 });
    });

    test("whose rows fail cost the books nothing, nor the rows of another feature", async () => {
      for (const write of [
        () => Promise.reject(new Error("out of words")),
        () => {
          throw new Error("out of words");
        },
      ]) {
        const store = await open([writing(write), words()]);
        const cause = expect.objectContaining({ message: "out of words" });
        expect(await commitAll(store, charged(), charged())).toEqual([
          { feature: "other", calls: 1, cause },
          { feature: "other", calls: 1, cause },
        ]);
        await expectCharged(store, 2);
        expect(await rowsOf(store, "words")).toBe(2);
      }
    });

    test("whose rows break a constraint, after others, have none of that commit", async () => {
      const insert = "INSERT INTO other (number, caller, tool) VALUES (1, 1, 1)";
      const store = await open([writing(async (sql) => void (await sql.run(insert), await sql.run(insert)))]);
      expect(await commitAll(store, charged())).toMatchObject([{ feature: "other", calls: 1 }]);
      await expectCharged(store, 1);
      expect(await rowsOf(store, "other")).toBe(0);
    });

    test("of a feature that fails when it chooses calls cost the books nothing", async () => {
      const takes = () => {
        throw new Error("no choice");
      };
      const store = await open([writing(async () => {}, takes)]);
      expect(await commitAll(store, charged())).toMatchObject([{ feature: "other", calls: 1 }]);
      await expectCharged(store, 1);
    });

    test("of a feature that takes five seconds hold up one commit for a second, and no later one", async () => {
      const store = await open([
        writing(async (sql) => {
          await sql.run("INSERT INTO other (number, caller, tool) VALUES (1, 1, 1)");
          await Bun.sleep(5_000);
        }),
        words(),
      ]);
      const began = performance.now();
      expect(await commitAll(store, charged(), charged(), charged())).toMatchObject([
        { feature: "other", calls: 1 },
        { feature: "other", calls: 1 },
        { feature: "other", calls: 1 },
      ]);
      expect(performance.now() - began).toBeLessThan(4_000);
      await expectCharged(store, 3);
      expect([await rowsOf(store, "other"), await rowsOf(store, "words")]).toEqual([0, 3]);
    });

    test("cost no savepoint where no feature takes a call", async () => {
      const store = await open([words()]);
      let savepoints = 0;
      const { sql } = store;
      const transaction = sql.transaction.bind(sql);
      sql.transaction = (work) =>
        transaction((tx) =>
          work({ ...tx, savepoint: (...part) => ((savepoints += 1), tx.savepoint(...part)) }),
        );
      await commitAll(store, call({ attempts: [attempt({ accounts: [A] })] }));
      expect(savepoints).toBe(0);
      await store.commit(commit({ batches: [batch(9, [charged()])] }));
      expect(savepoints).toBe(1);
    });

    test("lose old rows, and those of a key that is removed", async () => {
      const store = await open([words()]);
      await commitAll(store, charged(), charged());
      const [{ number } = { number: 0 }] = await store.sql.all<{ number: number }>(
        "SELECT max(number) AS number FROM words",
      );
      const cuts = { calls: number, hours: 0, sessions: 0, positions: 0 };
      expect(await deleteKept(store.sql, words().tables.kept![0]!, cuts)).toBe(1);
      const { tables } = await removeKey(store.sql, "key_a", () => Promise.resolve(), store.tables);
      expect(tables).toMatchObject({ words: { rows: 1 }, calls: { rows: 2 } });
      expect(await rowsOf(store, "words")).toBe(0);
    });

    test("of one name in two features are refused with a sentence that names both", async () => {
      const twice = words({ copied: ["more", "words"] }, "other");
      await expect(open([words(), twice], await fresh())).rejects.toThrow(
        "the features words and other both declare the table words",
      );
    });

    test("have each migration once; those of a newer version are refused, those of no feature stay", async () => {
      const place = await fresh();
      const [first] = words().tables.migrations;
      const later = words({ migrations: [first!, "ALTER TABLE words ADD COLUMN more {INT}"] });
      await commitAll(await open([words()], place), charged());
      for (let starts = 0; starts < 2; starts++) {
        const store = await open([later], place);
        expect(await store.sql.all("SELECT feature, version FROM feature_versions")).toEqual([
          { feature: "words", version: 2 },
        ]);
        expect(await store.sql.all("SELECT more FROM words")).toEqual([{ more: null }]);
      }
      const without = await open([], place);
      expect(await commitAll(without, charged())).toEqual([]);
      expect(await rowsOf(without, "words")).toBe(1);
      await expect(open([words()], place)).rejects.toThrow(
        "was written by a newer version of weir (the tables of words have the schema 2; this version knows 1)",
      );
    });
  });
}
