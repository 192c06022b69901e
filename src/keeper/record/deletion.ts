/** Deletes rows of the books in small slices, and keeps what they add up to. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import type { Cuts, KeptRows, NamedTables } from "../seams.ts";
import { callersOf, keptOf, ofCallers, type Pruned, Tally } from "./due.ts";
import { REMOVED_CALLER } from "../store/names.ts";
import { timeOf } from "../store/numbers.ts";
import { ATTEMPTS } from "../reports/attempts.ts";
import { addUp, DAY_MS } from "./roll-ups.ts";
import { SUMS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";

/** Rows that one transaction deletes. */
export const SLICE = 500;

const ASSUMED = CHARGE_STATES.indexOf("assumed");

/** Deletes the oldest calls. @param before a number of a call @returns how many rows were deleted */
export function deleteCalls(sql: Sql, before: number): Promise<number> {
  return sql.transaction(async (inner) => {
    const rows = await inner.all<{ number: number }>(
      `SELECT number FROM calls WHERE number < $1 ORDER BY number LIMIT ${SLICE}`,
      [before],
    );
    const last = rows.at(-1)?.number;
    if (last === undefined) return 0;
    await deleteRows(inner, `number <= ${last}`);
    await raise(inner, "calls_from", timeOf(last) + 1);
    return rows.length;
  });
}

/** Deletes sums by hour. @param before milliseconds since 1970 @returns how many rows were deleted */
export function deleteHours(sql: Sql, before: number): Promise<number> {
  return sql.transaction(async (inner) => {
    const deleted = await inner.run(
      `DELETE FROM use_hour WHERE (hour, caller, target) IN
         (SELECT hour, caller, target FROM use_hour WHERE hour < $1 ORDER BY hour LIMIT ${SLICE})`,
      [before],
    );
    if (deleted > 0) await raise(inner, "hours_from", before);
    return deleted;
  });
}

/** Forgets sessions without calls since then. @param before milliseconds since 1970 @returns how many rows were deleted */
export function deleteSessions(sql: Sql, before: number): Promise<number> {
  return sql.run(
    `DELETE FROM sessions WHERE session IN (SELECT session FROM sessions WHERE last_at < $1 LIMIT ${SLICE})`,
    [before],
  );
}

/** Forgets workers that have ended. @param before milliseconds since 1970 */
export function deletePositions(sql: Sql, before: number): Promise<number> {
  return sql.run("DELETE FROM positions WHERE at < $1", [before]);
}

/** Deletes rows of a feature that are too old. @returns how many rows were deleted */
export function deleteKept(sql: Sql, { table, key, ...rows }: KeptRows, cuts: Cuts): Promise<number> {
  const columns = key.join(", ");
  return sql.run(
    `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${rows.old(cuts)} LIMIT ${SLICE})`,
  );
}

/**
 * Removes the calls of a key. Their sums stay, as those of {@link REMOVED_CALLER}.
 * @param pause waits between two slices @param features their tables @returns what was deleted
 */
export async function removeKey(
  sql: Sql,
  key: string,
  pause: () => Promise<void>,
  features: readonly NamedTables[] = [],
): Promise<Pruned> {
  const callers = await callersOf(sql, key);
  const tally = new Tally();
  if (callers.length === 0) return tally.pruned;
  const removed = await removedCaller(sql);
  for (const caller of callers) {
    await moveSums(sql, "hour", DAY_MS, caller, removed, pause);
    await moveSums(sql, "day", 30 * DAY_MS, caller, removed, pause);
    for (const { table, ...rows } of keptOf(features))
      if (rows.of)
        tally.add(table, await sql.run(`DELETE FROM ${table} WHERE ${rows.of(ofCallers([caller]))}`));
    for (const { tables } of features) await tables.forget?.(sql, caller, removed);
    tally.add("sessions", await sql.run("DELETE FROM sessions WHERE caller = $1", [caller]));
  }
  for (const caller of callers)
    for (;;) {
      const rows = await removeSlice(sql, caller);
      tally.add("calls", rows);
      if (rows < SLICE) break;
      await pause();
    }
  return tally.pruned;
}

async function removedCaller(sql: Sql): Promise<number> {
  const text = REMOVED_CALLER;
  await sql.run("INSERT INTO names (kind, text) VALUES ('caller', $1) ON CONFLICT DO NOTHING", [text]);
  const [row] = await sql.all<{ id: number }>("SELECT id FROM names WHERE kind = 'caller' AND text = $1", [
    text,
  ]);
  return row!.id;
}

function removeSlice(sql: Sql, caller: number): Promise<number> {
  return sql.transaction(async (inner) => {
    const rows = await inner.all<{ number: number }>(
      `SELECT number FROM calls WHERE caller = $1 ORDER BY number LIMIT ${SLICE}`,
      [caller],
    );
    if (rows.length > 0)
      await deleteRows(inner, `number IN (${rows.map(({ number }) => number).join(", ")})`);
    return rows.length;
  });
}

/** Deletes calls with their charges, and adds what they were charged to `deleted_charges`. */
async function deleteRows(sql: Sql, which: string): Promise<void> {
  await keepCharges(sql, which);
  await sql.run(`DELETE FROM charges WHERE ${which}`);
  await sql.run(`DELETE FROM calls WHERE ${which}`);
}

/** Adds what calls were charged to `deleted_charges`, because they are about to be deleted. @param which a condition on their numbers */
export async function keepCharges(sql: Sql, which: string): Promise<void> {
  await sql.run(
    `INSERT INTO deleted_charges (accounts, spent, assumed, overrun)
     SELECT accounts, sum(CASE WHEN state = ${ASSUMED} THEN 0 ELSE cost END), sum(CASE WHEN state = ${ASSUMED} THEN cost ELSE 0 END),
       sum(CASE WHEN cost > held THEN cost - held ELSE 0 END)
     FROM (${ATTEMPTS}) AS attempts WHERE ${which} AND accounts IS NOT NULL GROUP BY accounts
     ON CONFLICT (accounts) DO UPDATE SET spent = deleted_charges.spent + excluded.spent,
       assumed = deleted_charges.assumed + excluded.assumed, overrun = deleted_charges.overrun + excluded.overrun`,
  );
}

/** Gives the sums of a caller to another one, a span of time after another. */
async function moveSums(
  sql: Sql,
  unit: "hour" | "day",
  span: number,
  from: number,
  to: number,
  pause: () => Promise<void>,
): Promise<void> {
  const table = `use_${unit}` as const;
  const [bounds] = await sql.all<{ first: number | null; last: number | null }>(
    `SELECT min(${unit}) AS first, max(${unit}) AS last FROM ${table}`,
  );
  const last = bounds?.last ?? -1;
  for (let start = bounds?.first ?? 0; start <= last; start += span) {
    const where = `WHERE ${unit} >= $1 AND ${unit} < $2 AND caller = $3`;
    const values = [start, start + span, from];
    const moved = await sql.transaction(async (inner) => {
      await inner.run(
        `INSERT INTO ${table} (${unit}, caller, target, ${SUMS.join(", ")})
         SELECT ${unit}, $4, target, ${SUMS.join(", ")} FROM ${table} ${where} ${addUp(table, unit)}`,
        [...values, to],
      );
      return inner.run(`DELETE FROM ${table} ${where}`, values);
    });
    if (moved > 0) await pause();
  }
}

/** Sets a time of the books that only increases. */
/** Sets an entry of `meta` to a value, unless it is larger already. */
export async function raise(sql: Sql, name: string, value: number): Promise<void> {
  await sql.run(
    `INSERT INTO meta (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value`,
    [name, value],
  );
}
