/** The books of one machine, in a SQLite file or in memory. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { NamedTables } from "../seams.ts";
import { IN_MEMORY } from "../settings.ts";
import { MarkFile, markPathOf } from "./mark.ts";
import { isDamage, openOrRecover } from "./recover.ts";
import { SqlStore } from "./sql-store.ts";

/** All draws of one machine are those of this node. */
const NODE = "local";

/**
 * @param path of `weir.db`, or `IN_MEMORY` of ../settings.ts @param now milliseconds since 1970
 * @param tables of features
 */
export function sqliteStore(
  path: string,
  now: () => number = Date.now,
  tables: readonly NamedTables[] = [],
): SqlStore {
  const mark = path === IN_MEMORY ? undefined : new MarkFile(markPathOf(path));
  return new SqlStore({
    connect: (damaged) =>
      openOrRecover(path, { copies: () => copiesOf(path), now, damaged, tables, ...(mark && { mark }) }),
    tables,
    ...(mark && { mark }),
    isDamage,
    isShared: false,
    node: NODE,
    now,
  });
}

/** The daily copies of a file, the oldest first. */
export function copiesOf(path: string): string[] {
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  const start = `${basename(path)}.copy-`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .sort()
    .map((name) => join(folder, name));
}
