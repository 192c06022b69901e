/** Keys, budgets and rate limits in the store. Each change has the next number of the policy as its version, and an audit entry. */
import type {
  Budget,
  Declared,
  KeyDigest,
  KeyEntry,
  RateLimit,
  Scopes,
  Subject,
  Window,
} from "../../ledger/policy.ts";
import { writeAudit } from "./audit-log.ts";
import { CLOSED, POLICY_VERSION, setMeta } from "./meta.ts";
import type { Sql, SqlValue } from "./sql.ts";
import type { Actor, Expected } from "./store.ts";

/** The entry was changed since the version that the change expects. */
export class VersionConflict extends Error {
  override name = "VersionConflict";
  /** The version that is stored. */
  readonly version: number;

  constructor(subject: string, version: number) {
    super(`${subject} has changed: its version is ${version}`);
    this.version = version;
  }
}

type PolicyTable = "keys" | "budgets" | "rates" | "models";

interface KeyRow {
  id: string;
  name: string;
  kind: KeyEntry["kind"];
  path: string;
  tags: string;
  scopes: string;
  person: string | null;
  expires_at: number | null;
  revoked_at: number | null;
  cut: number;
}

interface BudgetRow {
  id: string;
  name: string;
  on_kind: Subject["kind"];
  on_what: string;
  every: string;
  zone: string;
  limit_nano: number;
  mode: Budget["mode"];
  on_empty: string;
  alerts: string;
  declared: number;
}

interface RateRow {
  id: string;
  name: string;
  on_kind: Subject["kind"];
  on_what: string;
  limits: string;
  burst: string | null;
  declared: number;
}

/** @param which a condition on the rows of `keys` */
export async function readKeys(
  sql: Sql,
  which = "declared = 0",
  values: readonly SqlValue[] = [],
): Promise<KeyEntry[]> {
  const digests = new Map<string, KeyDigest[]>();
  for (const { key, digest, hint, until } of await sql.all<{
    key: string;
    digest: Uint8Array;
    hint: string | null;
    until: number | null;
  }>(
    `SELECT key, digest, hint, until FROM key_digests WHERE key IN (SELECT id FROM keys WHERE ${which})
     ORDER BY key, until DESC, digest`,
    values,
  )) {
    const entry = {
      sha256: digest.toHex(),
      ...(hint !== null && { hint }),
      ...(until !== null && { until }),
    };
    digests.set(key, [...(digests.get(key) ?? []), entry]);
  }
  const rows = await sql.all<KeyRow>(
    `SELECT id, name, kind, path, tags, scopes, person, expires_at, revoked_at, cut FROM keys WHERE ${which} ORDER BY id`,
    values,
  );
  return rows.map(({ id, name, kind, path, tags, scopes, person, expires_at, revoked_at, cut }) => ({
    id,
    name,
    kind,
    path,
    tags: JSON.parse(tags) as string[],
    digests: digests.get(id) ?? [],
    scopes: JSON.parse(scopes) as Scopes,
    ...(person !== null && { person }),
    ...(expires_at !== null && { expiresAt: expires_at }),
    ...(revoked_at !== null && { revokedAt: revoked_at }),
    ...(cut !== 0 && { cut: true }),
  }));
}

/** @param which a condition on the rows of `budgets` */
export async function readBudgets(
  sql: Sql,
  which = "declared = 0 AND deleted_at IS NULL",
  values: readonly SqlValue[] = [],
): Promise<Budget[]> {
  const rows = await sql.all<BudgetRow>(`SELECT * FROM budgets WHERE ${which} ORDER BY id`, values);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    on: { kind: row.on_kind, what: row.on_what },
    window: JSON.parse(row.every) as Window,
    zone: row.zone,
    limit: row.limit_nano,
    mode: row.mode,
    onEmpty: JSON.parse(row.on_empty) as Budget["onEmpty"],
    alerts: JSON.parse(row.alerts) as number[],
    source: row.declared ? "config" : "store",
  }));
}

/** @param which a condition on the rows of `rates` */
export async function readRates(
  sql: Sql,
  which = "declared = 0 AND deleted_at IS NULL",
  values: readonly SqlValue[] = [],
): Promise<RateLimit[]> {
  const rows = await sql.all<RateRow>(`SELECT * FROM rates WHERE ${which} ORDER BY id`, values);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    on: { kind: row.on_kind, what: row.on_what },
    limits: JSON.parse(row.limits) as RateLimit["limits"],
    ...(row.burst !== null && { burst: JSON.parse(row.burst) as RateLimit["burst"] }),
    source: row.declared ? "config" : "store",
  }));
}

/** @returns its version */
export function saveKey(sql: Sql, key: KeyEntry, actor: Actor, expected?: Expected, now = Date.now()) {
  return change(sql, "keys", key.id, actor, expected, now, async (inner, version) => {
    await putKey(inner, key, 0, version, actor.actor, now);
    if (key.kind === "call" && key.revokedAt === undefined) await setMeta(inner, CLOSED, 1);
    const { digests, ...entry } = key;
    return { ...entry, digests: digests.length };
  });
}

/** @returns its version */
export function saveBudget(sql: Sql, budget: Budget, actor: Actor, expected?: Expected, now = Date.now()) {
  return change(sql, "budgets", budget.id, actor, expected, now, async (inner, version) => {
    await putBudget(inner, budget, 0, version);
    return budget;
  });
}

/** @returns its version */
export function saveRate(sql: Sql, rate: RateLimit, actor: Actor, expected?: Expected, now = Date.now()) {
  return change(sql, "rates", rate.id, actor, expected, now, async (inner, version) => {
    await putRate(inner, rate, 0, version);
    return rate;
  });
}

/** Marks an entry as deleted; figures still name it. @returns whether it was there */
export function deleteEntry(
  sql: Sql,
  table: "budgets" | "rates",
  id: string,
  actor: Actor,
  now = Date.now(),
) {
  return sql.transaction(async (inner) => {
    const before = await describe(inner, table, id);
    const version = await nextVersion(inner);
    const changed = await inner.run(
      `UPDATE ${table} SET deleted_at = $2, version = $3 WHERE id = $1 AND deleted_at IS NULL AND declared = 0`,
      [id, now, version],
    );
    if (changed > 0) await writeAudit(inner, now, actor, "delete", `${table}/${id}`, before, null);
    return changed > 0;
  });
}

/** The audit log has the changes of budgets in the config, because the audit of the books needs to know them. */
const CONFIG: Actor = { actor: "config" };

/** Replaces what was declared before. */
export async function declare(sql: Sql, { keys, budgets, rates }: Declared, now = Date.now()): Promise<void> {
  await sql.transaction(async (inner) => {
    await inner.run("DELETE FROM key_digests WHERE key IN (SELECT id FROM keys WHERE declared = 1)");
    await inner.run("UPDATE keys SET revoked_at = $1 WHERE declared = 1", [now]);
    await inner.run("UPDATE budgets SET deleted_at = $1 WHERE declared = 1", [now]);
    await inner.run("UPDATE rates SET deleted_at = $1 WHERE declared = 1", [now]);
    // The digests of a config's keys stay in the config.
    for (const key of keys) await putKey(inner, { ...key, digests: [] }, 1, 0, CONFIG.actor, now);
    for (const budget of budgets) {
      const before = await describe(inner, "budgets", budget.id);
      await putBudget(inner, budget, 1, 0);
      const after = await describe(inner, "budgets", budget.id);
      const isChanged =
        before?.["limit_nano"] !== after?.["limit_nano"] || before?.["mode"] !== after?.["mode"];
      if (before && isChanged)
        await writeAudit(inner, now, CONFIG, "change", `budgets/${budget.id}`, before, after);
    }
    for (const rate of rates) await putRate(inner, rate, 1, 0);
  });
}

export function change(
  sql: Sql,
  table: PolicyTable,
  id: string,
  actor: Actor,
  expected: Expected | undefined,
  now: number,
  put: (sql: Sql, version: number) => Promise<unknown>,
): Promise<number> {
  return sql.transaction(async (inner) => {
    const version = await nextVersion(inner);
    const before = await describe(inner, table, id);
    const stored = Number(before?.["version"] ?? 0);
    if (expected?.version !== undefined && expected.version !== stored)
      throw new VersionConflict(`${table}/${id}`, stored);
    const after = await put(inner, version);
    const isThere = before !== null && (before["deleted_at"] ?? null) === null;
    await writeAudit(inner, now, actor, isThere ? "change" : "create", `${table}/${id}`, before, after);
    return version;
  });
}

/** The row of an entry, for the audit log. It contains no digest. */
async function describe(sql: Sql, table: PolicyTable, id: string): Promise<Record<string, SqlValue> | null> {
  const [row] = await sql.all(`SELECT * FROM ${table} WHERE id = $1`, [id]);
  return row ?? null;
}

/** The number of the next change of keys, budgets or limits. */
export async function nextVersion(sql: Sql): Promise<number> {
  const [row] = await sql.all<{ value: number }>(
    `UPDATE meta SET value = value + 1 WHERE name = '${POLICY_VERSION}' RETURNING value`,
  );
  return row!.value;
}

async function putKey(
  sql: Sql,
  key: KeyEntry,
  declared: 0 | 1,
  version: number,
  by: string,
  now: number,
): Promise<void> {
  const { id, name, kind, path, tags, digests, scopes, person, expiresAt, revokedAt, cut } = key;
  await put(
    sql,
    "keys",
    {
      id,
      name,
      kind,
      path,
      tags: JSON.stringify(tags),
      scopes: JSON.stringify(scopes),
      person: person ?? null,
      expires_at: expiresAt ?? null,
      revoked_at: revokedAt ?? null,
      cut: cut ? 1 : 0,
      declared,
      created_at: now,
      created_by: by,
      version,
    },
    ["created_at", "created_by"],
  );
  await sql.run("DELETE FROM key_digests WHERE key = $1", [id]);
  await sql.insert(
    "key_digests",
    ["digest", "key", "hint", "until"],
    digests.map(({ sha256, hint, until }) => [Uint8Array.fromHex(sha256), id, hint ?? null, until ?? null]),
  );
}

function putBudget(sql: Sql, budget: Budget, declared: 0 | 1, version: number): Promise<void> {
  return put(sql, "budgets", {
    id: budget.id,
    name: budget.name,
    on_kind: budget.on.kind,
    on_what: budget.on.what,
    every: JSON.stringify(budget.window),
    zone: budget.zone,
    limit_nano: budget.limit,
    mode: budget.mode,
    on_empty: JSON.stringify(budget.onEmpty),
    alerts: JSON.stringify(budget.alerts),
    declared,
    deleted_at: null,
    version,
  });
}

function putRate(sql: Sql, rate: RateLimit, declared: 0 | 1, version: number): Promise<void> {
  return put(sql, "rates", {
    id: rate.id,
    name: rate.name,
    on_kind: rate.on.kind,
    on_what: rate.on.what,
    limits: JSON.stringify(rate.limits),
    burst: rate.burst ? JSON.stringify(rate.burst) : null,
    declared,
    deleted_at: null,
    version,
  });
}

/** Writes a row in place of the one with its id. @param kept columns that keep their first value */
export async function put(
  sql: Sql,
  table: PolicyTable,
  row: Record<string, SqlValue>,
  kept: readonly string[] = [],
): Promise<void> {
  const columns = Object.keys(row);
  const changed = columns.filter((column) => column !== "id" && !kept.includes(column));
  const places = columns.map((_, index) => `$${index + 1}`).join(", ");
  await sql.run(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})
     ON CONFLICT (id) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    Object.values(row),
  );
}
