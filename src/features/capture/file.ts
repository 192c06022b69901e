/** The captured calls as one table of the SQLite database capture.db. All methods are synchronous. */
import type { Database } from "bun:sqlite";
import type { Captured } from "./captured.ts";

export const CAPTURE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE captured (
     id      TEXT PRIMARY KEY,    -- of the call
     at      INTEGER NOT NULL,    -- milliseconds since 1970, as expires
     expires INTEGER NOT NULL,
     bytes   INTEGER NOT NULL,    -- size of the body
     body    BLOB NOT NULL        -- JSON, zstd
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX captured_at ON captured (at);
   CREATE INDEX captured_expires ON captured (expires);`,
];

/** Rows that are deleted at once to make room. */
const EVICTED = 64;

export class CaptureFile {
  readonly #db: Database;
  readonly #now: () => number;
  /** Size of all bodies. */
  #bytes: number;

  /** @param db with the tables of `CAPTURE_MIGRATIONS` @param now milliseconds since 1970 */
  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    this.#bytes = this.#sum();
  }

  /** @param most size of all bodies after this. Bytes. */
  put(batch: readonly Captured[], most: number): void {
    const insert = this.#db.query("INSERT OR REPLACE INTO captured VALUES (?, ?, ?, ?, ?)");
    this.#db
      .transaction(() => {
        for (const { id, at, expiresAt, ...rest } of batch) {
          const body = Bun.zstdCompressSync(JSON.stringify(rest));
          insert.run(id, at, expiresAt, body.length, body);
          this.#bytes += body.length;
        }
      })
      .immediate();
    this.deleteExpired();
    while (
      this.#bytes > most &&
      this.#delete("id IN (SELECT id FROM captured ORDER BY at LIMIT ?)", EVICTED) > 0
    );
  }

  get(id: string): Captured | undefined {
    const row = this.#db
      .query<{ at: number; expires: number; body: Uint8Array }, [string, number]>(
        "SELECT at, expires, body FROM captured WHERE id = ? AND expires > ?",
      )
      .get(id, this.#now());
    if (!row) return undefined;
    const body = JSON.parse(Bun.zstdDecompressSync(row.body).toString()) as Omit<
      Captured,
      "id" | "at" | "expiresAt"
    >;
    return { id, at: row.at, expiresAt: row.expires, ...body };
  }

  deleteExpired(): number {
    return this.#delete("expires <= ?", this.#now());
  }

  size(): { rows: number; bytes: number } {
    const row = this.#db.query<{ rows: number }, []>("SELECT count(*) AS rows FROM captured").get();
    return { rows: row?.rows ?? 0, bytes: this.#bytes };
  }

  deleteAll(): number {
    return this.#delete("expires > ?", -1);
  }

  close(): void {
    this.#db.close();
  }

  #delete(where: string, value: number): number {
    const { changes } = this.#db.query(`DELETE FROM captured WHERE ${where}`).run(value);
    if (changes > 0) {
      this.#bytes = this.#sum();
      this.#db.run("PRAGMA incremental_vacuum(200)");
      // Deleted content is still in the write-ahead log.
      this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    return changes;
  }

  #sum(): number {
    const row = this.#db
      .query<{ bytes: number | null }, []>("SELECT sum(bytes) AS bytes FROM captured")
      .get();
    return row?.bytes ?? 0;
  }
}
