/** Copies the books of one machine, a SQLite file, to PostgreSQL. It can be repeated until a gateway uses the copy. */
import { Database } from "bun:sqlite";
import type { NamedTables } from "../../seams.ts";
import { timeOf } from "../numbers.ts";
import type { SqlValue } from "../sql.ts";
import type { Postgres } from "./driver.ts";
import { COPIED } from "./nodes.ts";
import { addPartitions, openPostgres } from "./store.ts";

/** Rows of one statement. */
const SLICE = 1_000;
const QUERY_MS = 60_000;

/** In the order of their references. The grants of a gateway that has ended in order are zero. */
const TABLES = [
  ...["names", "prices", "keys", "key_digests", "budgets", "rates", "models", "accounts", "assumptions"],
  ...[
    "rate_levels",
    "margins",
    "calls",
    "charges",
    "deleted_charges",
    "use_hour",
    "use_day",
    "sessions",
    "positions",
  ],
  ...["invoices", "audit"],
];
/** Tables that are no records of the books. */
const OWN = ["meta", "grants", "feature_versions"];
/** Tables whose `id` PostgreSQL counts. */
const COUNTED = ["names", "prices", "assumptions", "audit"];

export interface CopyProgress {
  table: string;
  rows: number;
  /** All rows of the table. */
  of: number;
}

/**
 * @param path of `weir.db`; no gateway may use it @param url of the PostgreSQL database @param features their tables
 * @returns the number of rows
 * @throws Error with one sentence if one of both cannot be used
 */
export async function copyBooks(
  path: string,
  url: string,
  features: readonly NamedTables[],
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<number> {
  const from = new Database(path, { readonly: true, strict: true });
  const to = await openPostgres(url, Date.now, { queryMs: QUERY_MS, connections: 1, tables: features });
  try {
    checkAtRest(from, path);
    checkKnown(from, path, features);
    const tables = tablesWith(features);
    await prepare(to, tables);
    let total = 0;
    for (const table of tables) total += await copyTable(from, to, table, onProgress);
    for (const table of COUNTED)
      await to.run(
        `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM ${table}), false)`,
      );
    await copyMeta(from, to);
    return total;
  } finally {
    from.close();
    await to.close();
  }
}

function checkAtRest(from: Database, path: string): void {
  const row = from
    .query<{ granted: number }, []>("SELECT coalesce(sum(abs(amount)), 0) AS granted FROM grants")
    .get();
  if (row!.granted !== 0)
    throw new Error(
      `the gateway that uses ${path} has not ended in order: it still has money of budgets; start it once, and stop it`,
    );
}

function tablesWith(features: readonly NamedTables[]): readonly string[] {
  return [...TABLES, ...features.flatMap(({ tables }) => tables.copied)];
}

/** What this build does not copy would be lost without a word. @throws Error with one sentence */
function checkKnown(from: Database, path: string, features: readonly NamedTables[]): void {
  const read = (text: string) =>
    from
      .query<{ name: string }, []>(text)
      .all()
      .map(({ name }) => name);
  const tables = read("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  // A file that no build has opened with features has no versions of theirs.
  const hasVersions = tables.includes("feature_versions");
  const known = hasVersions ? features.map(({ feature }) => feature) : [...tablesWith(features), ...OWN];
  const found = hasVersions ? read("SELECT feature AS name FROM feature_versions") : tables;
  const unknown = found.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const what = hasVersions ? `tables of ${unknown.join(", ")}` : `the tables ${unknown.join(", ")}`;
  throw new Error(
    `${path} has ${what}, which this build does not know: copy it with a build that has all features`,
  );
}

/** Empties an earlier copy. @throws Error if a gateway uses the database */
async function prepare(to: Postgres, tables: readonly string[]): Promise<void> {
  const [copied] = await to.all("SELECT 1 AS found FROM meta WHERE name = $1", [COPIED]);
  const [used] = await to.all(
    "SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM names) OR EXISTS (SELECT 1 FROM keys) OR EXISTS (SELECT 1 FROM nodes)",
  );
  if (used && !copied)
    throw new Error("a gateway uses this PostgreSQL database already: copy to an empty one");
  await to.run(
    "INSERT INTO meta (name, value) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [COPIED],
  );
  // Entries of the audit log cannot be deleted; those that were copied before are left out.
  for (const table of tables) if (table !== "audit") await to.run(`TRUNCATE ${table} CASCADE`);
}

async function copyTable(
  from: Database,
  to: Postgres,
  table: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  const info = from
    .query<{ name: string; pk: number }, []>(
      `SELECT name, pk FROM pragma_table_info('${table}') ORDER BY cid`,
    )
    .all();
  // A build without the feature of this table has made the file.
  if (info.length === 0) return 0;
  const columns = info.map(({ name }) => name);
  const key = info.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const of = from.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()!.rows;
  if (table === "calls") await addCallPartitions(from, to);
  let rows = 0;
  let slice: SqlValue[][] = [];
  const write = async () => {
    await to.insert(table, columns, slice, "ON CONFLICT DO NOTHING");
    rows += slice.length;
    slice = [];
    onProgress({ table, rows, of });
  };
  const all = from.query<Record<string, SqlValue>, []>(
    `SELECT ${columns.join(", ")} FROM ${table} ORDER BY ${key.join(", ")}`,
  );
  for (const row of all.iterate()) {
    slice.push(columns.map((column) => row[column] ?? null));
    if (slice.length === SLICE) await write();
  }
  if (slice.length > 0) await write();
  return rows;
}

async function addCallPartitions(from: Database, to: Postgres): Promise<void> {
  const row = from
    .query<{ first: number | null; last: number }, []>(
      "SELECT min(number) AS first, max(number) AS last FROM calls",
    )
    .get()!;
  if (row.first !== null) await addPartitions(to, timeOf(row.first), timeOf(row.last));
}

async function copyMeta(from: Database, to: Postgres): Promise<void> {
  const rows = from.query<{ name: string; value: number }, []>("SELECT name, value FROM meta").all();
  await to.insert(
    "meta",
    ["name", "value"],
    rows.map(({ name, value }) => [name, value]),
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
}
