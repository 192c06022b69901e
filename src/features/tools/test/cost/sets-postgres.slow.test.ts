/** Lists of tools in both stores: names that no text of PostgreSQL has, two nodes with one list, and what is deleted. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../../../../../test/helpers/postgres.ts";
import type { NumberedCall } from "../../../../keeper/seams.ts";
import { firstNumber } from "../../../../keeper/store/numbers.ts";
import type { Names } from "../../../../keeper/store/names.ts";
import { openPostgres } from "../../../../keeper/store/postgres/store.ts";
import type { Sql } from "../../../../keeper/store/sql.ts";
import { readSets, SETS_COMMIT, SETS_KEPT } from "../../cost/rows.ts";
import { tables } from "../../tables.ts";
import { openStore } from "../support/store.ts";

setDefaultTimeout(120_000);

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 29);

const callWith = (set: string, names: readonly string[], startedAt = NOW): NumberedCall => {
  const toolSet = names.map((name) => [name, 7, 0]);
  const call = { startedAt, toolUse: { set, bytes: 100 }, unstored: { toolSet } };
  return { number: firstNumber(startedAt), call: call as unknown as NumberedCall["call"] };
};

async function suite(sql: Sql): Promise<void> {
  const write = (calls: NumberedCall[]) =>
    sql.transaction((inner) => SETS_COMMIT.write(inner, {} as Names, calls));
  const hostile = ["a\u0000b", "\ud800", "__proto__", "ünï"];
  const [one, two] = [callWith("1".repeat(16), hostile), callWith("2".repeat(16), ["look"])];
  expect([one, two].every(({ call }) => SETS_COMMIT.takes(call))).toBe(true);
  // Two nodes learn of the same lists at once, in other orders.
  await Promise.all([write([one, two]), write([two, one])]);
  const found = await readSets(sql, ["1".repeat(16), "2".repeat(16), "3".repeat(16)]);
  expect([...found.keys()].sort()).toEqual(["1".repeat(16), "2".repeat(16)]);
  expect(found.get("1".repeat(16))!.map(({ name }) => name)).toEqual(hostile);
  // A later call keeps the list longer; an earlier one does not shorten that.
  await write([callWith("2".repeat(16), ["look"], NOW + 10 * DAY_MS)]);
  await write([callWith("2".repeat(16), ["look"], NOW - 10 * DAY_MS)]);
  const cuts = { calls: firstNumber(NOW + 5 * DAY_MS), hours: 0, sessions: 0, positions: 0 };
  await sql.run(`DELETE FROM ${SETS_KEPT.table} WHERE ${SETS_KEPT.old(cuts)}`);
  expect([...(await readSets(sql, [...found.keys()])).keys()]).toEqual(["2".repeat(16)]);
}

test("SQLite", () => suite(openStore().sql));

describe.skipIf(missingPostgres !== undefined)(`PostgreSQL (${missingPostgres ?? "present"})`, () => {
  test("the same", async () => {
    const server = await startPostgres();
    const sql = await openPostgres(server.url, Date.now, { tables: [{ feature: "tools", tables }] });
    try {
      await suite(sql);
    } finally {
      await sql.close();
      await server.close();
    }
  });
});
