/** Creates and updates the tables of one part of weir in PostgreSQL. All tables are in the schema `weir`. */
import type { Sql } from "../sql.ts";
import { assertTables, dueOf, FEATURE_VERSIONS } from "../migrations.ts";
import type { NamedTables } from "../../seams.ts";
import { typesOf } from "../schema.ts";
import type { Postgres } from "./driver.ts";
import { POOLED } from "./faults.ts";

/** Of the lock that nodes take which start at the same time. */
const LOCK = 0x77_65_69_72;

/**
 * Runs the migrations that the part has not had, all in one transaction.
 * @param part `books` or `answers` @param migrations only ever appended
 * @throws Error with one sentence if a newer version of weir wrote the tables
 */
export async function migratePostgres(
  sql: Postgres,
  part: string,
  migrations: readonly string[],
): Promise<void> {
  await sql.transaction(async (tx) => {
    await tx.all("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await makeSchema(tx);
    await tx.run(
      "CREATE TABLE IF NOT EXISTS weir.versions (part text PRIMARY KEY, version integer NOT NULL)",
    );
    const [row] = await tx.all<{ version: number }>("SELECT version FROM weir.versions WHERE part = $1", [
      part,
    ]);
    const version = row?.version ?? 0;
    if (version > migrations.length)
      throw new Error(
        `the PostgreSQL database was written by a newer version of weir (schema ${version}; this version knows ${migrations.length}); run that version, or use another database`,
      );
    if (version === migrations.length) return;
    for (const statements of migrations.slice(version)) await tx.run(statements);
    await tx.run(
      "INSERT INTO weir.versions VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version",
      [part, migrations.length],
    );
  });
}

/** Brings the tables of features to their newest schema, all in one transaction. @throws Error with one sentence */
export async function migrateFeatures(sql: Postgres, features: readonly NamedTables[]): Promise<void> {
  if (features.length === 0) return;
  assertTables(features);
  await sql.transaction(async (tx) => {
    await tx.all("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await tx.run(typesOf("postgres", FEATURE_VERSIONS));
    for (const { feature, tables } of features) {
      const [row] = await tx.all<{ version: number }>(
        "SELECT version FROM feature_versions WHERE feature = $1",
        [feature],
      );
      for (const statements of dueIn(feature, tables.migrations, row?.version ?? 0))
        await tx.run(typesOf("postgres", statements));
      if ((row?.version ?? 0) < tables.migrations.length)
        await tx.run(
          "INSERT INTO feature_versions VALUES ($1, $2) ON CONFLICT (feature) DO UPDATE SET version = excluded.version",
          [feature, tables.migrations.length],
        );
    }
  });
}

function dueIn(...given: Parameters<typeof dueOf>): readonly string[] {
  try {
    return dueOf(...given);
  } catch (cause) {
    throw new Error(`the PostgreSQL database ${(cause as Error).message}`, { cause });
  }
}

interface Facts {
  exists: number;
  may: number;
  role: string;
  database: string;
  path: string;
  timeout: string;
}

/** A role may own the schema without the right to create one, which even `IF NOT EXISTS` needs. */
async function makeSchema(sql: Sql): Promise<void> {
  const [row] = await sql.all<Facts>(
    `SELECT to_regnamespace('weir') IS NOT NULL AS exists, current_user::text AS role, current_database()::text AS database,
       has_database_privilege(current_database(), 'CREATE') AS may,
       current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout`,
  );
  const { exists, may, role, database, path, timeout } = row!;
  // A pooler that gives one connection to several clients would also lose the notices between nodes, without a word.
  if (!path.startsWith("weir") || timeout === "0") throw new Error(`PostgreSQL cannot be used: ${POOLED}`);
  if (exists === 1) return;
  if (may === 0)
    throw new Error(
      `the role ${role} may not create the schema weir in the database ${database}; run there, as its owner: CREATE SCHEMA weir AUTHORIZATION "${role}"`,
    );
  await sql.run("CREATE SCHEMA weir");
}
