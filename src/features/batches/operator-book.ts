/** The rows of batches as operators read them: by path, key and state. Commands read them without a gateway too. */
import type { Sql, SqlValue } from "../../keeper/store/sql.ts";
import { isEnd, type State } from "./batch.ts";
import { type BatchRow, COLUMNS, type Kept, keptOf } from "./book.ts";

export interface BatchQuery {
  /** Batches of this path and below. */
  readonly within: string;
  /** Id of a key. */
  readonly key?: string;
  readonly state?: State;
  readonly limit: number;
  /** Id of the last batch of the page before. */
  readonly after?: string;
}

/** Rows of one read; the state of a batch is in its JSON, which no database filters. */
const SLAB = 500;
/** Most rows that a page looks at. */
const MOST = 20_000;

/** The newest first. @returns whether there may be more behind `last`, the id of the last row that was looked at */
export async function readBatches(
  sql: Sql,
  { limit, state, ...query }: BatchQuery,
): Promise<{ batches: readonly Kept[]; last?: string }> {
  const found: Kept[] = [];
  const slab = state === undefined ? limit + 1 : SLAB;
  let after = query.after;
  for (let looked = 0; looked < MOST; looked += slab) {
    const { text, values } = conditionOf({ ...query, ...(state && { state }), ...(after && { after }) });
    const rows = await sql.all<BatchRow>(
      `SELECT ${COLUMNS} FROM batches WHERE ${text} ORDER BY created DESC, id DESC LIMIT ${slab}`,
      values,
    );
    for (const kept of rows.map(keptOf)) {
      if (state !== undefined && kept.batch.state !== state) continue;
      if (found.length === limit) return { batches: found, last: found.at(-1)!.batch.id };
      found.push(kept);
    }
    if (rows.length < slab) return { batches: found };
    after = rows.at(-1)!.id;
  }
  return { batches: found, ...(after !== undefined && { last: after }) };
}

/** @param id without the prefix of a vendor */
export async function readBatch(sql: Sql, id: string): Promise<Kept | undefined> {
  const [row] = await sql.all<BatchRow>(`SELECT ${COLUMNS} FROM batches WHERE id = $1`, [id]);
  return row && keptOf(row);
}

function conditionOf({ within, key, state, after }: Omit<BatchQuery, "limit">) {
  const values: SqlValue[] = [];
  const mark = (value: SqlValue) => `$${values.push(value)}`;
  const all = ["1 = 1"];
  if (within !== "/") {
    const below = `${within}/`;
    all.push(`(path = ${mark(within)} OR SUBSTR(path, 1, ${below.length}) = ${mark(below)})`);
  }
  if (key !== undefined) all.push(`key_id = ${mark(key)}`);
  if (state !== undefined) all.push(isEnd(state) ? "ended IS NOT NULL" : "ended IS NULL");
  if (after !== undefined)
    all.push(`(created, id) < (SELECT created, id FROM batches WHERE id = ${mark(after)})`);
  return { text: all.join(" AND "), values };
}
