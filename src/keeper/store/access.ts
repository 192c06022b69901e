/** Whether calls need a key, as the store says it. */
import { CLOSED, setMeta } from "./meta.ts";
import { writeAudit } from "./audit-log.ts";
import { nextVersion } from "./policies.ts";
import type { Sql } from "./sql.ts";
import type { Actor } from "./store.ts";

/** Whether every call needs a key: one is or was stored, and the gateway was not opened since. */
export async function areKeysNeeded(sql: Sql, meta: ReadonlyMap<string, number>): Promise<boolean> {
  const closed = meta.get(CLOSED);
  if (closed !== undefined) return closed === 1;
  return (await sql.all("SELECT 1 FROM keys WHERE kind = 'call' AND declared = 0 LIMIT 1")).length > 0;
}

/** Whether a hard budget counts, of the store or of the config. */
export async function hasHardBudget(sql: Sql): Promise<boolean> {
  const rows = await sql.all("SELECT 1 FROM budgets WHERE mode = 'hard' AND deleted_at IS NULL LIMIT 1");
  return rows.length > 0;
}

/** Calls need no key any more, until the next one is saved. @returns the version */
export function openKeys(sql: Sql, actor: Actor, now = Date.now()): Promise<number> {
  return sql.transaction(async (inner) => {
    const version = await nextVersion(inner);
    await setMeta(inner, CLOSED, 0);
    await writeAudit(inner, now, actor, "open", "access", null, null);
    return version;
  });
}
