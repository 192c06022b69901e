/** The store of the books in PostgreSQL, as one node sees it. */
import { firstNumber } from "../numbers.ts";
import { migrationsFor } from "../schema.ts";
import type { Sql } from "../sql.ts";
import { SqlStore } from "../sql-store.ts";
import { Postgres, type PostgresOptions } from "./driver.ts";
import { DRAW_TABLES } from "./draws.ts";
import { migrateFeatures, migratePostgres } from "./migrate.ts";
import type { NamedTables } from "../../seams.ts";
import { NODE_TABLES } from "./nodes.ts";
import { RATE_TABLES } from "./rate-parts.ts";

const DAY_MS = 86_400_000;
/** Days for which there is a partition in advance. */
const AHEAD = 3;

/**
 * Differences from SQLite beyond types. A text may be longer than a key of a B-tree can be, so names are found by hashes.
 * PostgreSQL's own sum of `bigint` is `numeric`; this one stays an integer, as in SQLite.
 */
const DIFFERENCES = `
ALTER TABLE names DROP CONSTRAINT names_kind_text_key;
CREATE UNIQUE INDEX names_text ON names (kind, md5(text));
CREATE INDEX names_of ON names USING hash (text);
CREATE TABLE calls_other PARTITION OF calls DEFAULT;
CREATE AGGREGATE weir.sum (bigint) (SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
${NODE_TABLES}${DRAW_TABLES}${RATE_TABLES}`;

export interface OpenOptions extends PostgresOptions {
  /** Tables of features. Default: none. */
  tables?: readonly NamedTables[];
}

export interface NodeOptions extends OpenOptions {
  /** Name of this node. */
  node: string;
  /** Number of this node among those of the store: 0 to 63. */
  slot?: () => number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** @param url `postgres://user:password@host:port/database` */
export function postgresStore(
  url: string,
  { node, slot, now = Date.now, ...options }: NodeOptions,
): SqlStore {
  return new SqlStore({
    connect: () => openPostgres(url, now, options),
    ...(options.tables && { tables: options.tables }),
    isShared: true,
    node,
    ...(slot && { slot }),
    now,
  });
}

/** Connects, and brings the tables of the books to the newest schema. @throws Error with one sentence */
export async function openPostgres(
  url: string,
  now: () => number = Date.now,
  options: OpenOptions = {},
): Promise<Postgres> {
  const sql = new Postgres(url, options);
  try {
    const [first, ...later] = migrationsFor("postgres");
    await migratePostgres(sql, "books", [`${first}\n${DIFFERENCES}`, ...later]);
    await migrateFeatures(sql, options.tables ?? []);
    await addPartitions(sql, now(), now() + AHEAD * DAY_MS);
    return sql;
  } catch (cause) {
    await sql.close();
    throw cause;
  }
}

/** Calls of one day are one partition, so that retention drops a table instead of deleting rows. */
export async function addPartitions(sql: Sql, from: number, to: number): Promise<void> {
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day <= to; day += DAY_MS) {
    const name = `calls_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
    const bounds = `FOR VALUES FROM (${firstNumber(day)}) TO (${firstNumber(day + DAY_MS)})`;
    const [exists] = await sql.all<{ found: number }>("SELECT 1 AS found WHERE to_regclass($1) IS NOT NULL", [
      name,
    ]);
    if (exists) continue;
    await sql
      .run(`CREATE TABLE IF NOT EXISTS ${name} PARTITION OF calls ${bounds}`)
      // Rows of that day are in the partition of all other days, or another node is faster: both are as good.
      .catch((cause: { errno?: unknown }) => {
        if (!["23514", "42P07", "23505", "40P01"].includes(String(cause.errno))) throw cause;
      });
  }
}
