/** Creates and updates the tables of a database. `PRAGMA user_version` counts the migrations that it has had. */
import type { Database } from "bun:sqlite";
import type { NamedTables } from "../seams.ts";
import { typesOf } from "./schema.ts";

/** Each entry runs once, in one transaction. Entries are only ever appended. */
export const RESPONSES_MIGRATIONS: readonly string[] = [
  `CREATE TABLE response (
     id         TEXT PRIMARY KEY,
     owner      TEXT NOT NULL,
     deployment TEXT,             -- the deployment that stores the answer; NULL: weir
     parent     TEXT,
     model      TEXT NOT NULL,
     status     TEXT NOT NULL,
     created    INTEGER NOT NULL, -- milliseconds since 1970, as expires
     expires    INTEGER NOT NULL,
     bytes      INTEGER NOT NULL, -- size of the body and the items before compression
     body       BLOB              -- JSON, zstd; NULL if a deployment stores the answer
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX response_expires ON response (expires);
   CREATE TABLE item (
     response TEXT NOT NULL REFERENCES response (id) ON DELETE CASCADE,
     side     INTEGER NOT NULL,   -- 0: input, 1: output
     seq      INTEGER NOT NULL,
     id       TEXT NOT NULL,
     value    BLOB NOT NULL,      -- JSON, zstd
     PRIMARY KEY (response, side, seq)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX item_id ON item (id);`,
];

/** Marks a database as one of weir: the letters `weir`. */
const APPLICATION_ID = 0x77_65_69_72;

/**
 * Brings a database to the newest schema. A migration that fails leaves the database as the one before left it.
 * @throws Error with a clause about the file (`was written by …`) if it is not a database of this version or an older one
 */
export function migrate(db: Database, migrations: readonly string[]): void {
  const version = readNumber(db, "user_version");
  if (version > migrations.length)
    throw new Error(
      `was written by a newer version of weir (schema ${version}; this version knows ${migrations.length}); run that version, or use another state folder`,
    );
  if (version === 0 && readNumber(db, "schema_version") > 0)
    throw new Error("is a database of another program; move it away, or use another state folder");
  if (version > 0 && readNumber(db, "application_id") !== APPLICATION_ID)
    throw new Error("is a database of another program; move it away, or use another state folder");
  migrations.slice(version).forEach((statements, index) =>
    db
      .transaction(() => {
        db.run(statements);
        db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
        db.run(`PRAGMA user_version = ${version + index + 1}`);
      })
      .immediate(),
  );
}

/**
 * Brings the tables of features to their newest schema. Tables of features that are not in the list stay as they are.
 * @throws Error with a clause about the file
 */
export function migrateFeatures(db: Database, features: readonly NamedTables[]): void {
  if (features.length === 0) return;
  assertTables(features);
  const run = db.transaction(() => {
    db.run(typesOf("sqlite", FEATURE_VERSIONS));
    for (const { feature, tables } of features) {
      const version =
        db
          .query<{ version: number }, [string]>("SELECT version FROM feature_versions WHERE feature = ?")
          .get(feature)?.version ?? 0;
      for (const statements of dueOf(feature, tables.migrations, version))
        db.run(typesOf("sqlite", statements));
      if (version < tables.migrations.length)
        db.run(
          "INSERT INTO feature_versions VALUES (?1, ?2) ON CONFLICT (feature) DO UPDATE SET version = excluded.version",
          [feature, tables.migrations.length],
        );
    }
  });
  run.immediate();
}

/** The versions of features' tables, which are no migration of the books: an earlier version of weir opens them as before. */
export const FEATURE_VERSIONS =
  "CREATE TABLE IF NOT EXISTS feature_versions (feature TEXT PRIMARY KEY, version {INT} NOT NULL) {KEYED}";

/** @throws Error with a sentence that names both features if two have a table of the same name */
export function assertTables(features: readonly NamedTables[]): void {
  const owners = new Map<string, string>();
  for (const { feature, tables } of features)
    for (const table of tables.copied) {
      const owner = owners.get(table);
      if (owner !== undefined)
        throw new Error(`the features ${owner} and ${feature} both declare the table ${table}`);
      owners.set(table, feature);
    }
}

/** The migrations that the tables of a feature have not had. @throws Error with a clause about the database */
export function dueOf(feature: string, migrations: readonly string[], version: number): readonly string[] {
  if (version > migrations.length)
    throw new Error(
      `was written by a newer version of weir (the tables of ${feature} have the schema ${version}; this version knows ${migrations.length}); run that version, or use another store`,
    );
  return migrations.slice(version);
}

/** The value of a numeric PRAGMA. */
export function readNumber(db: Database, pragma: string): number {
  const row = db.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get();
  return Object.values(row ?? {})[0] ?? 0;
}
