/** Opens the file of the books. A damaged one is set aside, and what can be read of it goes into a new one. */
import { existsSync, renameSync } from "node:fs";
import { Database, SQLiteError } from "bun:sqlite";
import { IN_MEMORY } from "../settings.ts";
import { HARD_CLOSED } from "./meta.ts";
import { writeAudit } from "./policies.ts";
import type { Sql, SqlValue } from "./sql.ts";
import { openSqlite, type Sqlite } from "./sqlite.ts";

/** Without these the gateway does not know who may spend what, so they are checked before it starts. */
const CHECKED = ["meta", "keys", "key_digests", "budgets", "rates", "accounts", "grants"];

/** What a new file takes over. Records of calls stay in the file that was set aside: they may be many. */
const RECOVERED = [
  ...CHECKED,
  "names",
  "prices",
  "assumptions",
  "rate_levels",
  "margins",
  "use_day",
  "cache_day",
  "invoices",
  "audit",
];

/** Whether an error says that a file is damaged. */
export function isDamage(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause)
    if (error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code ?? "")) return true;
  return false;
}

export interface RecoverOptions {
  /** Paths of daily copies, the oldest first. */
  copies: () => readonly string[];
  /** Milliseconds since 1970. */
  now: () => number;
  /** The file is known to be damaged. */
  damaged: boolean;
}

/**
 * Opens the file. If it is damaged, it becomes `PATH.corrupt-TIME`, and hard budgets are closed in the new one.
 * @throws Error with one sentence
 */
export async function openOrRecover(path: string, { copies, now, damaged }: RecoverOptions): Promise<Sqlite> {
  if (damaged) return recover(path, copies(), now());
  let sql: Sqlite | undefined;
  try {
    sql = openSqlite(path);
    if (path !== IN_MEMORY) await checkTables(sql);
    return sql;
  } catch (cause) {
    await sql?.close().catch(() => {});
    if (!isDamage(cause)) throw cause;
    return recover(path, copies(), now());
  }
}

async function recover(path: string, copies: readonly string[], now: number): Promise<Sqlite> {
  const aside = `${path}.corrupt-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) renameSync(path + end, aside + end);
  const fresh = openSqlite(path);
  await fill(fresh, [aside, ...copies.toReversed()], now);
  return fresh;
}

async function checkTables(sql: Sql): Promise<void> {
  for (const table of CHECKED) {
    const rows = await sql.all<Record<string, string>>(`PRAGMA quick_check(${table})`);
    const fault = rows.flatMap((row) => Object.values(row)).find((text) => text !== "ok");
    if (fault !== undefined) throw new Damaged(fault);
  }
}

/** A check found what reading did not. */
class Damaged extends SQLiteError {
  override readonly code = "SQLITE_CORRUPT";

  constructor(message: string) {
    super(message);
    this.message = message;
  }
}

/** Takes rows over from files: those of the first one, and of the next what the first lacks. */
async function fill(sql: Sql, sources: readonly string[], now: number): Promise<void> {
  await sql.run("PRAGMA foreign_keys = OFF");
  await sql.transaction(async (inner) => {
    await inner.run("DELETE FROM meta");
    for (const source of sources)
      for (const table of RECOVERED) {
        const { columns, rows } = readable(source, table);
        if (rows.length > 0) await inner.insert(table, columns, rows, "ON CONFLICT DO NOTHING");
      }
    await inner.run("DELETE FROM key_digests WHERE key NOT IN (SELECT id FROM keys)");
    await settleAccounts(inner);
    for (const [name, value] of [
      ["policy_version", 0],
      ["calls_from", now],
      ["hours_from", now],
      [HARD_CLOSED, 1],
    ] as const)
      await inner.run(
        `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = ${name === "policy_version" ? "meta.value + 1" : "excluded.value"}`,
        [name, value],
      );
    await writeAudit(inner, now, { actor: "keeper" }, "recover", "store", null, { from: sources[0] });
  });
  await sql.run("PRAGMA foreign_keys = ON");
}

/** What the accounts say of calls that were not taken over, so that the audit agrees; what nodes had drawn is assumed. */
async function settleAccounts(sql: Sql): Promise<void> {
  await sql.run(
    `INSERT INTO assumptions (at, account, amount, why)
     SELECT starts_at, account, granted, 'granted when the file was damaged' FROM accounts WHERE granted > 0`,
  );
  await sql.run(
    "UPDATE accounts SET assumed = assumed + CASE WHEN granted > 0 THEN granted ELSE 0 END, granted = 0",
  );
  await sql.run("DELETE FROM grants");
  await sql.run(
    "INSERT INTO names (kind, text) SELECT 'accounts', json_array(account) FROM accounts WHERE true ON CONFLICT DO NOTHING",
  );
  await sql.run(
    `INSERT INTO deleted_charges (accounts, spent, assumed, overrun)
     SELECT names.id, spent, assumed - coalesce((SELECT sum(amount) FROM assumptions WHERE assumptions.account = accounts.account), 0), overrun
     FROM accounts JOIN names ON names.kind = 'accounts' AND names.text = json_array(accounts.account)`,
  );
}

/** The rows of a table up to the first one that cannot be read. */
function readable(path: string, table: string): { columns: string[]; rows: SqlValue[][] } {
  const rows: SqlValue[][] = [];
  let columns: string[] = [];
  let db: Database | undefined;
  try {
    db = new Database(path, { readonly: true, strict: true });
    const statement = db.prepare<Record<string, SqlValue>, []>(`SELECT * FROM ${table}`);
    columns = statement.columnNames;
    for (const row of statement.iterate()) rows.push(Object.values(row));
  } catch {
    // What follows is lost with the damaged page, or in the next source.
  } finally {
    db?.close();
  }
  return { columns, rows };
}
