/** Creates and updates the tables of a database. `PRAGMA user_version` counts the migrations that it has had. */
import type { Database } from "bun:sqlite";

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

/** The value of a numeric PRAGMA. */
export function readNumber(db: Database, pragma: string): number {
  const row = db.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get();
  return Object.values(row ?? {})[0] ?? 0;
}
