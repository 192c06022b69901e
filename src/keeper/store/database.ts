/** Opens a database of the state folder, and describes its failures. Only the keeper opens one. */
import { chmodSync } from "node:fs";
import { Database, SQLiteError } from "bun:sqlite";
import { migrate } from "./migrations.ts";
import { IN_MEMORY } from "../settings.ts";

/** How long an opening waits for another process to release the file. Milliseconds. */
const BUSY_MS = 3_000;

/**
 * `auto_vacuum` must come before the first table. With `locking_mode = EXCLUSIVE` no other process can open the file, not
 * even one on the same disk in another container. `synchronous = FULL` makes a commit survive a power cut; `secure_delete`
 * overwrites deleted content.
 */
const PRAGMAS = [
  `busy_timeout = ${BUSY_MS}`,
  "auto_vacuum = INCREMENTAL",
  "locking_mode = EXCLUSIVE",
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "secure_delete = ON",
  "temp_store = MEMORY",
  "journal_size_limit = 4194304",
];

/** @throws Error with one sentence */
export function openDatabase(path: string, migrations: readonly string[]): Database {
  let db: Database | undefined;
  try {
    db = new Database(path, { create: true, strict: true });
    if (path !== IN_MEMORY) chmodSync(path, 0o600);
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
    migrate(db, migrations);
    // An empty transaction takes the lock also where there was nothing to migrate.
    db.run("BEGIN IMMEDIATE");
    db.run("COMMIT");
    return db;
  } catch (cause) {
    db?.close();
    throw new Error(`${path} ${describeFailure(cause)}`, { cause });
  }
}

/**
 * Opens a database and what reads it first. If that fails, the database is closed again: an open one would lock the file, and
 * each further opening would stop this thread for `BUSY_MS`.
 * @throws Error with one sentence
 */
export function openFile<File>(
  path: string,
  migrations: readonly string[],
  make: (db: Database) => File,
): File {
  const db = openDatabase(path, migrations);
  try {
    return make(db);
  } catch (cause) {
    db.close();
    throw new Error(`${path} ${describeFailure(cause)}`, { cause });
  }
}

const CLAUSES: readonly [code: string, clause: string][] = [
  ["SQLITE_FULL", "cannot be written: the disk is full"],
  ["SQLITE_READONLY", "cannot be written: the file or its folder is read-only"],
  ["SQLITE_BUSY", "is locked by another process"],
  ["SQLITE_LOCKED", "is locked by another process"],
  ["SQLITE_CANTOPEN", "cannot be opened"],
  ["SQLITE_NOTADB", "is damaged: it is not a SQLite database; move it away, or restore it from a backup"],
  ["SQLITE_CORRUPT", "is damaged; move it away, or restore it from a backup"],
  ["SQLITE_IOERR", "cannot be read or written: the disk reported an I/O error"],
];

/** Why the store of the books failed, as a sentence: `the store cannot be written: the disk is full`. */
export function describeStoreFailure(cause: unknown): string {
  return cause instanceof SQLiteError ? `the store ${describeFailure(cause)}` : describeFailure(cause);
}

/** Why a database failed, as a clause about the file: `is damaged; …`. */
export function describeFailure(cause: unknown): string {
  if (!(cause instanceof SQLiteError)) return cause instanceof Error ? cause.message : String(cause);
  const known = CLAUSES.find(([code]) => cause.code?.startsWith(code));
  return known?.[1] ?? `failed: ${cause.message}`;
}
