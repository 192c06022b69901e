/** The books' connection to a SQLite file. */
import { chmodSync, existsSync, rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { Database, SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { describeFailure } from "./database.ts";
import { migrate, migrateFeatures, readNumber } from "./migrations.ts";
import type { NamedTables } from "../seams.ts";
import { IN_MEMORY } from "../settings.ts";
import { migrationsFor } from "./schema.ts";
import { SAVEPOINT, untilLate } from "./savepoint.ts";
import type { Sql, SqlRow, SqlValue, Transaction, Undone } from "./sql.ts";

/** These must come before the first table. Later they would change the file, also one that is refused. */
const FIRST_PRAGMAS = ["page_size = 8192", "auto_vacuum = INCREMENTAL"];

/**
 * `synchronous = FULL` makes a commit survive a power cut.
 * Reports read the file through a second connection, so the file is not locked here: the state folder is.
 */
const PRAGMAS = [
  "busy_timeout = 250",
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "secure_delete = FAST",
  "temp_store = MEMORY",
  "journal_size_limit = 16777216",
  // Beyond what a thread moves once a second: see Reader.checkpoint.
  "wal_autocheckpoint = 8000",
];

/** File systems on which locks of SQLite do not hold: NFS, and three kinds of SMB. */
const NETWORK_TYPES = [0x6969, 0x517b, 0xff534d42, 0xfe534d42];

/** @param type of `statfs` */
export function isNetworkFileSystem(type: number): boolean {
  return NETWORK_TYPES.includes(type >>> 0);
}

/**
 * Opens the file of the books and brings it to the newest schema.
 * @param path {@link IN_MEMORY} for books that end with the process @param tables of features @throws Error with one sentence
 */
export function openSqlite(
  path: string,
  migrations = migrationsFor("sqlite"),
  tables: readonly NamedTables[] = [],
): Sqlite {
  let db: Database | undefined;
  try {
    // A folder that does not exist is reported by the opening.
    if (
      path !== IN_MEMORY &&
      existsSync(dirname(path)) &&
      isNetworkFileSystem(statfsSync(dirname(path)).type)
    )
      throw new Error(
        "is on a network file system, where SQLite is not safe; use a local folder or PostgreSQL",
      );
    db = new Database(path, { create: true, strict: true });
    if (path !== IN_MEMORY) chmodSync(path, 0o600);
    const isNew = readNumber(db, "schema_version") === 0;
    for (const pragma of isNew ? [...FIRST_PRAGMAS, ...PRAGMAS] : PRAGMAS) db.run(`PRAGMA ${pragma}`);
    copyBefore(db, path, migrations.length);
    migrate(db, migrations);
    migrateFeatures(db, tables);
    return new Sqlite(db);
  } catch (cause) {
    db?.close();
    throw new Error(`${path} ${describeFailure(cause)}`, { cause });
  }
}

/** Before a file is brought to a newer schema, weir keeps a copy of it: `weir.db.v1` has the schema 1. */
function copyBefore(db: Database, path: string, newest: number): void {
  const version = readNumber(db, "user_version");
  if (path === IN_MEMORY || version === 0 || version >= newest) return;
  const copy = `${path}.v${version}`;
  rmSync(copy, { force: true });
  db.run("VACUUM INTO ?1", [copy]);
  chmodSync(copy, 0o600);
}

/** Most statements that stay prepared. Reports make texts of their own. */
const STATEMENTS = 200;

export class Sqlite implements Sql {
  readonly dialect = "sqlite";
  readonly #db: Database;
  readonly #statements = new Map<string, Statement<unknown, SQLQueryBindings[]>>();
  /** The last transaction that was asked for. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Number of transactions that run or wait. */
  #waiting = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  async all<Row = SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    if (this.#waiting > 0) await this.#idle();
    return this.#all<Row>(text, values);
  }

  async run(text: string, values: readonly SqlValue[] = []): Promise<number> {
    if (this.#waiting > 0) await this.#idle();
    return this.#run(text, values);
  }

  async insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict = "",
  ): Promise<void> {
    await this.transaction((sql) => sql.insert(table, columns, rows, onConflict));
  }

  transaction<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value> {
    this.#waiting += 1;
    const result = this.#tail.then(() => this.#transact(work));
    this.#tail = result.then(
      () => (this.#waiting -= 1),
      () => (this.#waiting -= 1),
    );
    return result;
  }

  /** Ends after the transactions that were asked for. */
  async close(): Promise<void> {
    await this.#idle();
    this.#finalize();
    // The write-ahead log stays beside the file if anything else still has it open.
    try {
      this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      this.#db.close();
    }
  }

  async #idle(): Promise<void> {
    while (this.#waiting > 0) await this.#tail;
  }

  async #transact<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value> {
    const inner: Transaction = {
      dialect: this.dialect,
      all: async (text, values = []) => this.#all(text, values),
      run: async (text, values = []) => this.#run(text, values),
      insert: async (table, columns, rows, onConflict = "") => this.#insert(table, columns, rows, onConflict),
      transaction: (nested) => nested(inner),
      savepoint: (part, ms) => this.#savepoint(inner, part, ms),
      close: async () => {},
    };
    this.#db.run("BEGIN IMMEDIATE");
    try {
      const value = await work(inner);
      this.#db.run("COMMIT");
      return value;
    } catch (cause) {
      if (this.#db.inTransaction) this.#db.run("ROLLBACK");
      throw cause;
    }
  }

  async #savepoint(inner: Sql, work: (sql: Sql) => Promise<void>, ms: number): Promise<Undone | undefined> {
    this.#db.run(`SAVEPOINT ${SAVEPOINT}`);
    try {
      await untilLate(inner, work, ms);
      this.#db.run(`RELEASE ${SAVEPOINT}`);
      return undefined;
    } catch (cause) {
      // Some failures of the file end the transaction, and after others nothing in it can be trusted.
      if (!this.#db.inTransaction || isOfFile(cause)) throw cause;
      this.#db.run(`ROLLBACK TO ${SAVEPOINT}`);
      this.#db.run(`RELEASE ${SAVEPOINT}`);
      return { cause };
    }
  }

  #all<Row>(text: string, values: readonly SqlValue[]): Row[] {
    return this.#statement(text).all(...values) as Row[];
  }

  #run(text: string, values: readonly SqlValue[]): number {
    return this.#statement(text).run(...values).changes;
  }

  #insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict: string,
  ): void {
    const places = columns.map((_, index) => `?${index + 1}`).join(", ");
    const statement = this.#statement(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places}) ${onConflict}`,
    );
    for (const row of rows) statement.run(...row);
  }

  /** A database with open statements stays open after its end, with its write-ahead log. */
  #finalize(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }

  #statement(text: string): Statement<unknown, SQLQueryBindings[]> {
    const known = this.#statements.get(text);
    if (known) return known;
    if (this.#statements.size >= STATEMENTS) {
      this.#finalize();
    }
    const statement = this.#db.prepare<unknown, SQLQueryBindings[]>(text.replaceAll(/\$(\d+)/g, "?$1"));
    this.#statements.set(text, statement);
    return statement;
  }
}

/** Whether a failure is one of the file, and not of the statement. */
function isOfFile(cause: unknown): boolean {
  return cause instanceof SQLiteError && /^SQLITE_(?:CORRUPT|NOTADB|IOERR)/.test(cause.code ?? "");
}
