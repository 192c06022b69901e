/** Columns of features with sealed texts: the key that wraps them, and how they get another one. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Envelope, isSealed, rowOf } from "../../core/envelope.ts";
import { systemCode } from "../../core/system-error.ts";
import type { NamedTables, Rewrapped, SealedColumn } from "../seams.ts";
import { IN_MEMORY, isPostgres, type StoreSettings } from "../settings.ts";
import type { Sql } from "./sql.ts";

/** Rows of one transaction. */
const BATCH = 200;
/** Between two transactions the records of calls are written. Milliseconds. */
const PAUSE_MS = 5;

type Change = <Value>(work: (sql: Sql) => Promise<Value>) => Promise<Value>;

/**
 * The keys of the config; without one, that of a file beside a store of this machine, which is made with it.
 * @returns undefined for a store that other nodes share and no key of the config is for
 */
export function envelopeOf({ url, folder, sealKey, oldSealKeys = [] }: StoreSettings): Envelope | undefined {
  const isShared = isPostgres(url);
  const file = folder === undefined || isShared ? undefined : join(folder, "seal.key");
  if (sealKey !== undefined) {
    // Texts that were sealed before the config had a key.
    const before = file && readKey(file);
    return new Envelope(sealKey, [...oldSealKeys, ...(before === undefined ? [] : [before])]);
  }
  if (url === IN_MEMORY) return new Envelope(randomBytes(32).toString("hex"));
  return file === undefined ? undefined : new Envelope(readKey(file) ?? makeKey(folder!, file), oldSealKeys);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** Another process may make it at the same time. */
function makeKey(folder: string, file: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if (systemCode(cause) !== "EEXIST") throw cause;
  }
  chmodSync(file, 0o600);
  return readKey(file)!;
}

export function sealedColumns(tables: readonly NamedTables[]): readonly SealedColumn[] {
  return tables.flatMap(({ tables: { sealed = [] } }) => sealed);
}

/** A sentence if the store has a text that no key opens. */
export async function sealFault(
  sql: Sql,
  columns: readonly SealedColumn[],
  envelope: () => Envelope | undefined,
): Promise<string | undefined> {
  for (const column of columns)
    for (const row of await readRows(sql, column, undefined, 1))
      if (isSealed(row.text) && envelope()?.open(row.text, rowIdOf(column, row)) === undefined)
        return "the store has secrets that are sealed with another key than store.sealKey; list that one in store.oldSealKeys";
  return undefined;
}

/** Wraps all texts with the first key. Calls go on meanwhile: a row that changes in between keeps its change. */
export async function rewrapAll(
  columns: readonly SealedColumn[],
  envelope: Envelope,
  change: Change,
): Promise<Rewrapped> {
  const done = { rewrapped: 0, current: 0, unreadable: 0 };
  for (const column of columns) {
    let last: readonly string[] | undefined;
    do {
      const from = last;
      const batch = await change(async (sql) => rewrapBatch(sql, column, envelope, from));
      for (const name of ["rewrapped", "current", "unreadable"] as const) done[name] += batch[name];
      last = batch.last;
      if (last) await Bun.sleep(PAUSE_MS);
    } while (last);
  }
  return done;
}

/** @returns what was done, and the key of the last row if there may be more */
async function rewrapBatch(
  sql: Sql,
  column: SealedColumn,
  envelope: Envelope,
  from: readonly string[] | undefined,
): Promise<Rewrapped & { last?: readonly string[] }> {
  const rows = await readRows(sql, column, from, BATCH);
  const done = { rewrapped: 0, current: 0, unreadable: 0 };
  for (const row of rows) {
    const id = rowIdOf(column, row);
    const next = isSealed(row.text) ? envelope.rewrap(row.text, id) : envelope.seal(row.text, id);
    if (next === undefined) done.unreadable++;
    else if (next === row.text) done.current++;
    else {
      const where = column.key.map((name, at) => `${name} = $${at + 3}`).join(" AND ");
      const text = `UPDATE ${column.table} SET ${column.column} = $1 WHERE ${column.column} = $2 AND ${where}`;
      done.rewrapped += Number((await sql.run(text, [next, row.text, ...row.key])) === 1);
    }
  }
  return { ...done, ...(rows.length === BATCH && { last: rows.at(-1)!.key }) };
}

interface SealedRow {
  readonly key: readonly string[];
  readonly text: string;
}

/** Rows in the order of their keys. @param from key behind which they begin */
async function readRows(
  sql: Sql,
  { table, column, key, isPlain }: SealedColumn,
  from: readonly string[] | undefined,
  most: number,
): Promise<SealedRow[]> {
  const keys = key.join(", ");
  const values = key.map((_name, at) => `$${at + 1}`).join(", ");
  // Texts of before envelopes, in columns where they are sealed in another way, stay as they are.
  const wanted = isPlain ? `${column} IS NOT NULL` : `${column} LIKE 'we1.%'`;
  const behind = from ? ` AND (${keys}) > (${values})` : "";
  const rows = await sql.all<Record<string, string>>(
    `SELECT ${keys}, ${column} AS sealed_text FROM ${table} WHERE ${wanted}${behind} ORDER BY ${keys} LIMIT ${most}`,
    [...(from ?? [])],
  );
  return rows.map((row) => ({ key: key.map((name) => row[name]!), text: row["sealed_text"]! }));
}

function rowIdOf({ table, column, key: _names }: SealedColumn, { key }: SealedRow): string {
  return rowOf(table, column, key);
}
