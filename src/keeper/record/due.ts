/** Rows that a deletion takes away, by table: counted before it, and added up by it. */
import type { Keep } from "../../ledger/keep.ts";
import type { Cuts, KeptRows, NamedTables } from "../seams.ts";
import { parseCaller } from "../store/names.ts";
import { firstNumber } from "../store/numbers.ts";
import { DAY_MS, HOUR_MS } from "./roll-ups.ts";
import type { Sql } from "../store/sql.ts";

/** Which rows are to be deleted: those of a key, or what is too old. */
export interface PruneRequest {
  /** Id of the key. */
  key?: string;
  /** Rows are only counted. */
  dryRun?: boolean;
}

export interface Pruned {
  rows: number;
  /** By table; the charges of a call go with it. `bytes`, with their indexes, are estimated from the size of the table, where the database knows it. */
  tables: Record<string, { rows: number; bytes?: number }>;
}

/** Rows by table. */
export class Tally {
  readonly #rows = new Map<string, number>();

  add(table: string, rows: number): void {
    if (rows > 0) this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows);
  }

  get pruned(): Pruned {
    const tables = Object.fromEntries([...this.#rows].map(([table, rows]) => [table, { rows }]));
    return { rows: [...this.#rows.values()].reduce((sum, rows) => sum + rows, 0), tables };
  }

  /** With the bytes of the rows, which are still there. */
  async measured(sql: Sql): Promise<Pruned> {
    const entries = [...this.#rows].map(async ([table, rows]) => {
      const bytes = await bytesOf(sql, table, rows);
      return [table, { rows, ...(bytes !== undefined && { bytes }) }] as const;
    });
    return { rows: this.pruned.rows, tables: Object.fromEntries(await Promise.all(entries)) };
  }
}

/** The rows of features that do not stay for ever. */
export function keptOf(tables: readonly NamedTables[]): readonly KeptRows[] {
  return tables.flatMap(({ tables: { kept = [] } }) => kept);
}

export function cutsOf({ calls, hours, sessions }: Keep["keepDays"], now: number): Cuts {
  return {
    calls: firstNumber(now - calls * DAY_MS),
    hours: Math.floor((now - hours * DAY_MS) / HOUR_MS) * HOUR_MS,
    sessions: now - sessions * DAY_MS,
    positions: now - calls * DAY_MS,
  };
}

/** Rows that are too old. @param kept rows of features */
export async function countOld(sql: Sql, cuts: Cuts, kept: readonly KeptRows[]): Promise<Tally> {
  const { calls, hours, sessions, positions } = cuts;
  return counted(sql, [
    ["calls", `number < ${calls}`],
    ["use_hour", `hour < ${hours}`],
    ["sessions", `last_at < ${sessions}`],
    ...kept.map(({ table, ...rows }) => [table, rows.old(cuts)] as const),
    ["positions", `at < ${positions}`],
  ]);
}

/** Rows that the deletion of a key takes away. @param kept rows of features */
export async function countKey(sql: Sql, key: string, kept: readonly KeptRows[]): Promise<Tally> {
  const callers = await callersOf(sql, key);
  if (callers.length === 0) return new Tally();
  const own = ofCallers(callers);
  return counted(sql, [
    ["calls", own],
    ["sessions", own],
    ...kept.flatMap(({ table, ...rows }) => (rows.of ? [[table, rows.of(own)] as const] : [])),
  ]);
}

/** A condition for the rows of callers. */
export function ofCallers(callers: readonly number[]): string {
  return `caller IN (${callers.join(", ")})`;
}

/** The numbers of the callers of a key: one for each path and each list of tags that it has had. */
export async function callersOf(sql: Sql, key: string): Promise<number[]> {
  const rows = await sql.all<{ id: number; text: string }>(
    "SELECT id, text FROM names WHERE kind = 'caller'",
  );
  return rows.filter(({ text }) => parseCaller(text).key === key).map(({ id }) => id);
}

async function counted(sql: Sql, conditions: readonly (readonly [string, string])[]): Promise<Tally> {
  const tally = new Tally();
  for (const [table, where] of conditions) tally.add(table, await countOf(sql, table, where));
  return tally;
}

async function countOf(sql: Sql, table: string, where: string): Promise<number> {
  const [row] = await sql.all<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`);
  return row!.rows;
}

/** Calls with the rows of their attempts. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = { calls: ["calls", "charges"] };

/** The share that rows have of the size of their table and its indexes; undefined where the database does not know it. */
export async function bytesOf(sql: Sql, table: string, rows: number): Promise<number | undefined> {
  const tables = TOGETHER[table] ?? [table];
  const list = tables.map((name) => `'${name}'`).join(", ");
  const size =
    sql.dialect === "sqlite"
      ? `SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name IN (${list}))`
      : `SELECT CAST(sum(coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(name::regclass)),
           pg_total_relation_size(name::regclass))) AS bigint) AS bytes FROM unnest(ARRAY[${list}]) AS name`;
  try {
    const [whole] = await sql.all<{ bytes: number | null }>(size);
    const all = await countOf(sql, table, "1 = 1");
    return all === 0 ? 0 : Math.round((Number(whole?.bytes ?? 0) * rows) / all);
  } catch {
    // SQLite may be built without its statistics, and a role may not see sizes.
    return undefined;
  }
}
