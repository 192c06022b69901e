/** Sessions of the console in the store: they survive a restart, and all nodes of a store know them. */
import type { AdminBooks } from "../books.ts";
import type { KeptSessions, Session } from "./sessions.ts";

interface Row {
  readonly key_hash: string | null;
  readonly until_at: number | string;
}

/** Each function throws AdminError 503 if the store fails. */
export function storedSessions(books: Pick<AdminBooks, "read" | "write">): KeptSessions {
  return {
    save: (hash, { sha256, until }, now) =>
      books.write(async (sql) => {
        await sql.run("DELETE FROM console_sessions WHERE until_at <= $1", [now]);
        await sql.run("INSERT INTO console_sessions (hash, key_hash, until_at) VALUES ($1, $2, $3)", [
          ...[hash, sha256 ?? null, until],
        ]);
      }),
    read: (hash) =>
      books.read(async (sql): Promise<Session | undefined> => {
        const [row] = await sql.all<Row>("SELECT key_hash, until_at FROM console_sessions WHERE hash = $1", [
          hash,
        ]);
        if (!row) return undefined;
        return { until: Number(row.until_at), ...(row.key_hash !== null && { sha256: row.key_hash }) };
      }),
    delete: (hash) =>
      books.write(
        async (sql) => void (await sql.run("DELETE FROM console_sessions WHERE hash = $1", [hash])),
      ),
  };
}
