/** Names of marks and counters in the table `meta`. */
import type { Sql } from "./sql.ts";

/** Hard budgets grant nothing until an administrator releases them. */
export const HARD_CLOSED = "hard_closed";
/** 1: keys and budgets may be incomplete or old, so that keys of the store admit nothing until an administrator releases them. */
export const DOUBTED = "doubted";
/** 1: every call needs a key. 0: an administrator has opened the gateway. Absent: the rows of the keys say it. */
export const CLOSED = "closed";
/** Number of commits, in a file. */
export const COMMITS = "commits";
/** Entries of the audit log that have a hash. */
export const AUDIT_ENTRIES = "audit_entries";
/** The day of the last proof of all rows at night, in days since 1970. */
export const PROVEN_DAY = "proven_day";
export const POLICY_VERSION = "policy_version";

/** The marks and counters that the table has, by name. */
export async function readMeta(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ name: string; value: number }>("SELECT name, value FROM meta");
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function setMeta(sql: Sql, name: string, value: number): Promise<void> {
  await sql.run(
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}
