/** The lists of definitions that calls carried, each once: names and sizes by their hash. */
import { firstNumber } from "../../../keeper/store/numbers.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import type { FeatureCommit, KeptRows } from "../../../keeper/seams.ts";
import { toolSet } from "../columns.ts";
import type { ToolSize } from "./layout.ts";

export const SETS = `
-- hash: 16 hexadecimal digits. tools: [name, bytes, 1 if the vendor runs it] of each, as JSON. until: calls with smaller numbers may have it.
CREATE TABLE tool_sets (hash TEXT PRIMARY KEY, until {INT} NOT NULL, tools TEXT NOT NULL) {KEYED};
`;
export const SETS_TABLE = "tool_sets";

/** A worker sends a list again after an hour; its last call may be long. Milliseconds. */
const KEPT_ON_MS = 2 * 86_400_000;

export const SETS_KEPT: KeptRows = {
  table: SETS_TABLE,
  key: ["hash"],
  old: ({ calls }) => `until < ${calls}`,
};

export const SETS_COMMIT: FeatureCommit = {
  takes: (call) => toolSet.in(call) !== undefined,
  async write(sql, _names, calls) {
    const rows = new Map<string, [string, number, string]>();
    for (const { call } of calls) {
      const { set } = (call as { toolUse?: { set: string } }).toolUse ?? { set: "" };
      const until = firstNumber(call.startedAt + KEPT_ON_MS);
      if (set !== "") rows.set(set, [set, until, JSON.stringify(toolSet.in(call))]);
    }
    await sql.insert(
      SETS_TABLE,
      ["hash", "until", "tools"],
      [...rows.values()].sort(([a], [b]) => (a < b ? -1 : 1)),
      `ON CONFLICT (hash) DO UPDATE SET until = excluded.until WHERE excluded.until > ${SETS_TABLE}.until`,
    );
  },
};

/** Most hashes of one statement. */
const READ = 100;

/** @returns the lists that the store has, by their hashes */
export async function readSets(
  sql: Sql,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, readonly ToolSize[]>> {
  const found = new Map<string, readonly ToolSize[]>();
  for (let from = 0; from < hashes.length; from += READ) {
    const slice = hashes.slice(from, from + READ);
    const places = slice.map((_, index) => `$${index + 1}`).join(", ");
    const rows = await sql.all<{ hash: string; tools: string }>(
      `SELECT hash, tools FROM ${SETS_TABLE} WHERE hash IN (${places})`,
      slice,
    );
    for (const { hash, tools } of rows)
      found.set(
        hash,
        (JSON.parse(tools) as [string, number, number][]).map(([name, bytes, hosted]) => ({
          ...{ name, bytes },
          ...(hosted === 1 && { isHosted: true as const }),
        })),
      );
  }
  return found;
}
