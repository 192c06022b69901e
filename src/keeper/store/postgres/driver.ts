/** The books' connection to PostgreSQL: a small pool of Bun's client, with a time limit on every query. */
import type { SQL } from "bun";
import { SAVEPOINT, untilLate } from "../savepoint.ts";
import type { Sql, SqlRow, SqlValue, Transaction, Undone } from "../sql.ts";
import { StoreLost } from "../store.ts";
import { isLoss, sentenceOf } from "./faults.ts";

export interface PostgresOptions {
  /** Maximum time of one query. Milliseconds. */
  queryMs?: number;
  connections?: number;
}

/**
 * A server that is frozen answers nothing and closes nothing, so the client would wait without end: every query has a time
 * limit of weir's own. The wait for a connection has the same limit.
 */
const QUERY_MS = 2_000;
const CONNECTIONS = 4;
/** Seconds. */
const CONNECT_S = 3;
/** Tries of a transaction that the server ended because of another one. */
const TRIES = 8;
/** The server's codes: a deadlock, and a transaction that could not be ordered. */
const CONFLICTS: readonly unknown[] = ["40P01", "40001"];

/** A pool and those who wait for it; a pool that is given up rejects them all. */
interface Pool {
  client: SQL;
  waiting: Set<(fault: Error) => void>;
}

type Runner = Pick<SQL, "unsafe">;
type Result<Row> = Row[] & { count: number };

export class Postgres implements Sql {
  readonly dialect = "postgres";
  readonly #url: string;
  readonly #options: PostgresOptions;
  readonly #queryMs: number;
  #pool: Pool;
  /** Transactions that run, and those that wait for one of them to end. */
  #running = 0;
  readonly #turns: (() => void)[] = [];
  /** Types of the columns by table, for bulk inserts. */
  readonly #types = new Map<string, ReadonlyMap<string, string>>();

  /** @param url `postgres://user:password@host:port/database`. It connects with the first query. */
  constructor(url: string, options: PostgresOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.#queryMs = options.queryMs ?? QUERY_MS;
    this.#pool = this.#newPool();
  }

  /** @throws StoreLost if the server cannot be reached or does not answer in time */
  async all<Row = SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return Array.from(await this.#query<Row>(this.#pool, this.#pool.client, text, values));
  }

  async run(text: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.#query(this.#pool, this.#pool.client, text, values)).count;
  }

  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict = "",
  ): Promise<void> {
    // Two nodes that insert the same rows in different orders wait for each other.
    return this.transaction((sql) => sql.insert(table, columns, rows, onConflict));
  }

  /** Runs work in one transaction, several at a time. One that the server ended for another's sake runs again. */
  async transaction<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#inTurn(() => this.#transact(work));
      } catch (cause) {
        if (tries === TRIES || !isConflict(cause)) throw cause;
        await Bun.sleep(Math.random() * 10 * tries);
      }
    }
  }

  /**
   * Calls `onNotice` for each notice of a channel, over a connection of its own.
   * @param onEnd called once when the connection has ended: notices are lost from then on
   * @returns ends the connection
   */
  async listen(channel: string, onNotice: (text: string) => void, onEnd: () => void): Promise<() => void> {
    // Bun would connect again by itself and report each attempt on standard error.
    const end = () => void client.close({ timeout: 0 }).catch(() => {});
    const ended = Promise.withResolvers<void>();
    const client = this.#newClient(1, () => {
      end();
      ended.resolve();
    });
    const late = setTimeout(end, this.#queryMs);
    try {
      const lost = ended.promise.then(() => {
        throw new StoreLost("PostgreSQL ended the connection for notices");
      });
      await Promise.race([client.listen(channel, onNotice), lost]);
    } finally {
      clearTimeout(late);
    }
    void ended.promise.then(onEnd);
    return end;
  }

  notify(channel: string, text: string): Promise<number> {
    return this.run("SELECT pg_notify($1, $2)", [channel, text]);
  }

  async close(): Promise<void> {
    const { client } = this.#pool;
    const late = Promise.withResolvers<void>();
    // A timer that is left would keep a command from ending.
    const timer = setTimeout(late.resolve, this.#queryMs);
    await Promise.race([client.close({ timeout: 1 }).catch(() => {}), late.promise]);
    clearTimeout(timer);
  }

  #newPool(): Pool {
    return { client: this.#newClient(this.#options.connections ?? CONNECTIONS), waiting: new Set() };
  }

  #newClient(max: number, onClose?: () => void): SQL {
    return new Bun.SQL({
      url: this.#url,
      adapter: "postgres",
      max,
      connectionTimeout: CONNECT_S,
      // Both limits can end a query that runs.
      idleTimeout: 0,
      maxLifetime: 0,
      bigint: true,
      ...(onClose && { onclose: onClose }),
      connection: {
        application_name: "weir",
        // What weir no longer waits for must not happen later.
        statement_timeout: String(this.#queryMs),
        idle_in_transaction_session_timeout: String(2 * this.#queryMs),
        idle_session_timeout: "0",
        TimeZone: "UTC",
        // First, because an aggregate of that schema replaces one of PostgreSQL's.
        search_path: "weir, pg_catalog",
      },
    });
  }

  /** Waits until few enough transactions run: that a connection is busy says nothing about the server. */
  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running < Math.max(1, (this.#options.connections ?? CONNECTIONS) - 1)) this.#running += 1;
    else await new Promise<void>((resolve) => this.#turns.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#turns.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  async #transact<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value> {
    const pool = this.#pool;
    const entered = Promise.withResolvers<void>();
    const worked = Promise.withResolvers<void>();
    const result = pool.client.begin(async (connection) => {
      entered.resolve();
      const sql: Transaction = {
        dialect: this.dialect,
        all: async (text, values = []) => Array.from(await this.#query(pool, connection, text, values)),
        run: async (text, values = []) => (await this.#query(pool, connection, text, values)).count,
        insert: (table, columns, rows, onConflict = "") =>
          this.#insert(sql, table, columns, rows, onConflict),
        transaction: (inner) => inner(sql),
        savepoint: (part, ms) => this.#savepoint(sql, part, ms),
        close: async () => {},
      };
      try {
        return { value: await work(sql) };
      } finally {
        worked.resolve();
      }
    });
    result.catch(() => {});
    // Each of the three parts has a time limit: a connection and BEGIN, each query of the work, COMMIT or ROLLBACK.
    await this.#limited(pool, Promise.race([entered.promise, result]));
    await this.#untilLost(pool, Promise.race([worked.promise, result]));
    return ((await this.#limited(pool, result)) as { value: Value }).value;
  }

  /** A statement that is late holds up what undoes it, so the server ends it before weir gives the connection up. */
  async #savepoint(sql: Sql, work: (sql: Sql) => Promise<void>, most: number): Promise<Undone | undefined> {
    const ms = Math.min(most, Math.floor(this.#queryMs / 2) - 1);
    await sql.run(`SAVEPOINT ${SAVEPOINT}; SET LOCAL statement_timeout = ${ms}`);
    try {
      await untilLate(sql, work, ms);
      await sql.run(`RELEASE ${SAVEPOINT}; SET LOCAL statement_timeout TO DEFAULT`);
      return undefined;
    } catch (cause) {
      if (cause instanceof StoreLost || isConflict(cause)) throw cause;
      await sql.run(`ROLLBACK TO ${SAVEPOINT}; RELEASE ${SAVEPOINT}`);
      return { cause };
    }
  }

  #query<Row>(pool: Pool, runner: Runner, text: string, values: readonly SqlValue[]): Promise<Result<Row>> {
    const query = runner.unsafe(text, values.map(clean));
    return this.#limited(pool, Promise.resolve(query as PromiseLike<Result<Row>>)).then((rows) => {
      for (const row of rows) toNumbers(row as Record<string, unknown>);
      return rows;
    });
  }

  /** One statement for all rows; the server reads them from one JSON text. */
  async #insert(
    sql: Sql,
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict: string,
  ): Promise<void> {
    if (rows.length === 0) return;
    const types = this.#types.get(table) ?? (await this.#readTypes(sql, table));
    const typed = columns.map((column) => `${column} ${types.get(column) ?? "text"}`);
    const objects = rows.map((row) =>
      Object.fromEntries(columns.map((column, at) => [column, toJson(clean(row[at] ?? null))])),
    );
    const names = columns.join(", ");
    await sql.run(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_to_recordset($1::text::json) AS r(${typed.join(", ")}) ${onConflict}`,
      [JSON.stringify(objects)],
    );
  }

  async #readTypes(sql: Sql, table: string): Promise<ReadonlyMap<string, string>> {
    const rows = await sql.all<{ name: string; type: string }>(
      `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
      [table],
    );
    const types = new Map(rows.map(({ name, type }) => [name, type]));
    if (types.size > 0) this.#types.set(table, types);
    return types;
  }

  /** Waits for a query; when it is late, the pool is given up and a new one takes its place. */
  async #limited<Value>(pool: Pool, pending: Promise<Value>): Promise<Value> {
    const timer = setTimeout(() => this.#giveUp(pool), this.#queryMs);
    try {
      return await this.#untilLost(pool, pending);
    } finally {
      clearTimeout(timer);
    }
  }

  async #untilLost<Value>(pool: Pool, pending: Promise<Value>): Promise<Value> {
    const lost = Promise.withResolvers<never>();
    pool.waiting.add(lost.reject);
    try {
      return await Promise.race([pending, lost.promise]);
    } catch (cause) {
      throw isLoss(cause) ? new StoreLost(sentenceOf(cause)) : cause;
    } finally {
      pool.waiting.delete(lost.reject);
    }
  }

  #giveUp(pool: Pool): void {
    if (this.#pool === pool) this.#pool = this.#newPool();
    const fault = new StoreLost(`PostgreSQL did not answer within ${this.#queryMs / 1000} s`);
    for (const reject of pool.waiting) reject(fault);
    pool.client.close({ timeout: 0 }).catch(() => {});
  }
}

/** Whether the server ended a transaction for the sake of another one. */
function isConflict(cause: unknown): boolean {
  return CONFLICTS.includes((cause as { errno?: unknown } | null)?.errno);
}

/** The server stores neither NUL nor half of a surrogate pair. */
function clean(value: SqlValue): SqlValue {
  return typeof value === "string" ? value.replaceAll("\0", "\ufffd").toWellFormed() : value;
}

function toJson(value: SqlValue): string | number | null {
  return value instanceof Uint8Array ? `\\x${value.toHex()}` : value;
}

/** Replaces the integers of a row, which are all `bigint`, by numbers, and values of JSON columns by their text. */
function toNumbers(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "bigint") row[name] = Number(value);
    else if (typeof value === "boolean") row[name] = value ? 1 : 0;
    else if (typeof value === "object" && value !== null && !(value instanceof Uint8Array))
      row[name] = JSON.stringify(value);
  }
}
