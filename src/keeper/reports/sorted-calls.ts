/** A page of calls in the order of a number: the largest of the newest rows that a search finds. */
import { timeOf } from "../store/numbers.ts";
import type { Sql } from "../store/sql.ts";
import { boundOf, type Search, withBlobs } from "./call-search.ts";
import type { CallOrder, CallPage, CallQuery } from "./shapes.ts";
import { TOKENS } from "./wanted.ts";

/** Most rows that one order looks at, the newest: about a day of ten million calls a month. */
export const SORTED = 350_000;

const COLUMNS: Record<CallOrder, string> = { cost: "cost", took: "ms", first: "first_ms", tokens: TOKENS };

interface Found {
  number: number;
  amount: number;
}

type SortedPage<Row> = Omit<CallPage, "calls"> & { rows: Row[] };

/** Calls without the number have no place in its order. */
export async function listSorted<Row extends { number: number }>(
  sql: Sql,
  { ranges, scans, conditions }: Search,
  { limit, after, sort }: Pick<CallQuery, "limit" | "after"> & { sort: CallOrder },
): Promise<SortedPage<Row>> {
  const column = COLUMNS[sort];
  const last = cursorOf(after);
  const bound = await boundOf(sql, { ranges, scans, conditions }, SORTED);
  const where = [
    "number >= $1 AND number < $2",
    ...conditions,
    `${column} IS NOT NULL`,
    ...(last ? [`(${column} < $4 OR (${column} = $4 AND number < $5))`] : []),
  ].join(" AND ");
  const parts = ranges.flatMap((range) => scans.map((scan) => ({ range, scan })));
  const pages = await Promise.all(
    parts.map(({ range: { from, to, only = "1 = 1" }, scan }) =>
      sql.all<Found>(
        withBlobs(
          sql.dialect,
          `SELECT number, ${column} AS amount FROM calls AS scanned WHERE ${where} AND ${only} AND ${scan} ORDER BY 2 DESC, 1 DESC LIMIT $3`,
        ),
        [Math.max(from, bound), to, limit + 1, ...(last ? [last.amount, last.number] : [])],
      ),
    ),
  );
  const found = pages.flat().sort((a, b) => b.amount - a.amount || b.number - a.number);
  const shown = found.slice(0, limit);
  const end = found.length > limit ? shown.at(-1) : undefined;
  return {
    rows: await rowsOf<Row>(sql, shown),
    ...(end && { next: `${end.amount}.${end.number}` }),
    bounded: bound > 0,
    ...(bound > 0 && { searchedTo: timeOf(bound) }),
  };
}

async function rowsOf<Row extends { number: number }>(sql: Sql, found: readonly Found[]): Promise<Row[]> {
  if (found.length === 0) return [];
  const numbers = found.map(({ number }) => number).join(", ");
  const rows = await sql.all<Row>(`SELECT * FROM calls WHERE number IN (${numbers})`, []);
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  return found.flatMap(({ number }) => byNumber.get(number) ?? []);
}

function cursorOf(after: string | undefined): Found | undefined {
  const [amount, number] = (after ?? "").split(".").map(Number);
  return Number.isSafeInteger(amount) && Number.isSafeInteger(number)
    ? { amount: amount!, number: number! }
    : undefined;
}
