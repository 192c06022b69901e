/** The books of one machine, in a SQLite file or in memory. */
import { SqlStore } from "./sql-store.ts";
import { openSqlite } from "./sqlite.ts";

/** What one machine draws is drawn by this node. */
const NODE = "local";

/** @param path of `weir.db`, or `IN_MEMORY` of ../settings.ts @param now milliseconds since 1970 */
export function sqliteStore(path: string, now?: () => number): SqlStore {
  return new SqlStore({ connect: async () => openSqlite(path), isShared: false, node: NODE, now });
}
