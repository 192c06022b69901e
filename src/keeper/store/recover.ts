/** Opens the file of the books. A damaged one is set aside, and what can be read of it goes into a new one. */
import { existsSync, renameSync, statSync } from "node:fs";
import { Database, SQLiteError } from "bun:sqlite";
import type { NamedTables } from "../seams.ts";
import { IN_MEMORY } from "../settings.ts";
import { areKeysNeeded } from "./access.ts";
import { CAREFUL, type Mark, type MarkFile } from "./mark.ts";
import { CLOSED, COMMITS, DOUBTED, HARD_CLOSED, POLICY_VERSION, readMeta, setMeta } from "./meta.ts";
import { acceptLoss, writeAudit } from "./audit-log.ts";
import type { Sql, SqlValue } from "./sql.ts";
import { openSqlite, type Sqlite } from "./sqlite.ts";

/** Without these the gateway does not know who may spend what, so they are checked before it starts. */
const CHECKED = ["meta", "keys", "key_digests", "budgets", "rates", "models", "accounts", "grants"];

/** Of these a file must have every row, or its keys and budgets are doubted. */
const DECISIVE = ["meta", "keys", "key_digests", "budgets"];

/** Tables that a new file takes over. Records of calls stay in the file that was set aside: they may be many. */
const RECOVERED = [
  ...CHECKED,
  "names",
  "prices",
  "assumptions",
  "rate_levels",
  "margins",
  "use_day",
  "invoices",
  "audit",
];

/** Whether an error says that a file is damaged. */
export function isDamage(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause)
    if (
      error instanceof Damaged ||
      (error instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code ?? ""))
    )
      return true;
  return false;
}

export interface RecoverOptions {
  /** Paths of daily copies, the oldest first. */
  copies: () => readonly string[];
  /** Milliseconds since 1970. */
  now: () => number;
  /** The file is known to be damaged. */
  damaged: boolean;
  /** Tables of features. */
  tables: readonly NamedTables[];
  /** The mark that is kept outside the file; absent for books in memory. */
  mark?: MarkFile;
}

/**
 * Opens the file. If it is damaged, or gone although the mark says that there was one, it becomes `PATH.corrupt-TIME`, and hard
 * budgets are closed in the new one. Where keys or budgets may be missing or old, they are doubted: calls with keys of the store,
 * and calls without a key, are refused until an administrator releases the store.
 * @throws Error with one sentence
 */
export async function openOrRecover(
  path: string,
  { copies, now, damaged, tables, mark }: RecoverOptions,
): Promise<Sqlite> {
  const known = mark?.read();
  const replace = () => recover(path, copies(), now(), known, tables);
  if (damaged || isGone(path, known, copies())) return replace();
  let sql: Sqlite | undefined;
  try {
    sql = openSqlite(path, undefined, tables);
    if (path !== IN_MEMORY) await checkTables(sql);
    if (typeof known === "object") await compare(sql, known, now());
    return sql;
  } catch (cause) {
    await sql?.close().catch(() => {});
    if (!isDamage(cause)) throw cause;
    return replace();
  }
}

type Known = ReturnType<MarkFile["read"]>;

/** Whether there is no file, or an empty one, where keys or budgets must have been. */
function isGone(path: string, known: Known, copies: readonly string[]): boolean {
  if (path === IN_MEMORY) return false;
  const isExpected =
    known === undefined ? copies.length > 0 : known === "unreadable" || known.closed || known.hard;
  const found = statSync(path, { throwIfNoEntry: false });
  return isExpected && (found === undefined || (found.isFile() && found.size === 0));
}

/** Doubts a file that is older than the mark, such as a restored copy, or that does not have the keys that closed the gateway. */
async function compare(sql: Sql, mark: Mark, now: number): Promise<void> {
  const meta = await readMeta(sql);
  const isOlder = (meta.get(COMMITS) ?? 0) < mark.commits || (meta.get(POLICY_VERSION) ?? 0) < mark.version;
  if (!isOlder && (!mark.closed || (await areKeysNeeded(sql, meta)))) return;
  await sql.transaction(async (inner) => {
    await doubt(inner, mark);
    await writeAudit(inner, now, { actor: "keeper" }, "recover", "store", null, { from: "an older copy" });
  });
}

async function doubt(sql: Sql, { closed, commits, version }: Mark): Promise<void> {
  const meta = await readMeta(sql);
  await setMeta(sql, HARD_CLOSED, 1);
  await setMeta(sql, DOUBTED, 1);
  if (closed) await setMeta(sql, CLOSED, 1);
  await setMeta(sql, COMMITS, Math.max(meta.get(COMMITS) ?? 0, commits));
  await setMeta(sql, POLICY_VERSION, Math.max(meta.get(POLICY_VERSION) ?? 0, version) + 1);
}

async function recover(
  path: string,
  copies: readonly string[],
  now: number,
  known: Known,
  features: readonly NamedTables[],
): Promise<Sqlite> {
  const aside = `${path}.corrupt-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) renameSync(path + end, aside + end);
  const fresh = openSqlite(path, undefined, features);
  const sources = [aside, ...copies.toReversed()].filter((source) => existsSync(source));
  const isWhole = isDecisiveWhole(aside, typeof known === "object" ? known.version : 0);
  const tables = [...RECOVERED, ...features.flatMap(({ tables: { recovered = [] } }) => recovered)];
  await fill(fresh, sources, { now, known, isWhole, tables });
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
class Damaged extends Error {
  override readonly name = "Damaged";
}

interface Filling {
  /** Milliseconds since 1970. */
  now: number;
  known: Known;
  /** The first source has all keys and budgets, as they were last. */
  isWhole: boolean;
  /** Tables whose rows are taken over. */
  tables: readonly string[];
}

/** Takes rows over from files: those of the first one, and of the next what the first lacks. */
async function fill(
  sql: Sql,
  sources: readonly string[],
  { now, known, isWhole, tables }: Filling,
): Promise<void> {
  await sql.run("PRAGMA foreign_keys = OFF");
  await sql.transaction(async (inner) => {
    await inner.run("DELETE FROM meta");
    for (const source of sources)
      for (const table of tables) {
        const { columns, rows } = readable(source, table);
        if (rows.length > 0) await inner.insert(table, columns, rows, "ON CONFLICT DO NOTHING");
      }
    await inner.run("DELETE FROM key_digests WHERE key NOT IN (SELECT id FROM keys)");
    await settleAccounts(inner);
    await setMeta(inner, "calls_from", now);
    await setMeta(inner, "hours_from", now);
    await closeAfter(inner, known, isWhole);
    const lost = await acceptLoss(inner);
    await writeAudit(inner, now, { actor: "keeper" }, "recover", "store", null, {
      from: sources[0] ?? "nothing",
      ...(lost > 0 && { lostEntries: lost }),
    });
  });
  await sql.run("PRAGMA foreign_keys = ON");
}

/** Closes what the lost rows may have closed. */
async function closeAfter(sql: Sql, known: Known, isWhole: boolean): Promise<void> {
  const mark = typeof known === "object" ? known : CAREFUL;
  const meta = await readMeta(sql);
  await setMeta(sql, POLICY_VERSION, Math.max(meta.get(POLICY_VERSION) ?? 0, mark.version) + 1);
  if (isWhole) return setMeta(sql, HARD_CLOSED, 1);
  if (mark.closed || mark.hard || (await areKeysNeeded(sql, meta))) await doubt(sql, mark);
}

/** Whether a damaged file still has every row of keys and budgets. @param version that it had at least */
function isDecisiveWhole(path: string, version: number): boolean {
  let db: Database | undefined;
  try {
    db = new Database(path, { readonly: true, strict: true });
    for (const table of DECISIVE) {
      const rows = db.query<Record<string, string>, []>(`PRAGMA quick_check(${table})`).all();
      if (rows.some((row) => Object.values(row)[0] !== "ok")) return false;
    }
    const [row] = db
      .query<{ value: number }, [string]>("SELECT value FROM meta WHERE name = ?")
      .all(POLICY_VERSION);
    return row !== undefined && row.value >= version;
  } catch {
    return false;
  } finally {
    db?.close();
  }
}

/** Sums in the accounts of calls that were not taken over, so that the audit agrees; the draws of nodes are assumed. */
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
