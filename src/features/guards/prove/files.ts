/** The texts of what a gateway has written down. */
import { Database } from "bun:sqlite";

/** The bytes of a file, one character each; of a database also its values, which may be packed. */
export async function textOfFile(path: string): Promise<string> {
  const file = Bun.file(path);
  // A log of the database goes when its last connection is closed.
  if (!(await file.exists())) return "";
  const bytes = Buffer.from(await file.arrayBuffer());
  return bytes.toString("latin1") + (path.endsWith(".db") ? valuesOf(path) : "");
}

function valuesOf(path: string): string {
  const texts: string[] = [];
  const database = new Database(path);
  try {
    database.run("PRAGMA busy_timeout = 5000");
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all();
    for (const { name } of tables)
      for (const row of database.query<Record<string, unknown>, []>(`SELECT * FROM "${name}"`).all())
        for (const value of Object.values(row)) texts.push(plain(value));
  } finally {
    database.close();
  }
  return texts.join("\n");
}

/** Zstandard (RFC 8878, 3.1.1). */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function plain(value: unknown): string {
  if (typeof value === "string") return Buffer.from(value).toString("latin1");
  if (!(value instanceof Uint8Array)) return "";
  const bytes = Buffer.from(value);
  return (bytes.subarray(0, ZSTD.length).equals(ZSTD) ? Bun.zstdDecompressSync(bytes) : bytes).toString(
    "latin1",
  );
}
