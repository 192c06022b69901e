/** The proof that the books agree with themselves, in one consistent view: it also works while calls run. */
import type { Nano } from "../../ledger/money.ts";
import { sayNano } from "../../ledger/money.ts";
import { CHARGE_STATES } from "../../ledger/charge.ts";
import type { NamedTables } from "../seams.ts";
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";
import { checkChain } from "../store/audit-log.ts";
import { SUMS } from "../store/schema.ts";
import { REMOVED_CALLER } from "../store/names.ts";
import type { Sql } from "../store/sql.ts";
import { ATTEMPTS, counted } from "./attempts.ts";
import { CALL_ADDS, HOUR, OF_ATTEMPTS, OF_CALLS, STATE, STATE_ADDS } from "./sums.ts";
import { checkAccounts, checkGrants, checkLimits, checkOverruns } from "./audit-accounts.ts";
import type { AuditCheck, AuditReport } from "./shapes.ts";

/** @param since number of a call: only rows of calls behind it are read */
type Check = (sql: Sql, since: number) => Promise<AuditCheck>;

/** The number of the whole books. */
const ALL = -1;

const CHECKS: readonly Check[] = [
  checkCalls,
  checkDropped,
  checkAttempts,
  checkCharges,
  checkHours,
  checkTargets,
  checkDays,
  checkAccounts,
  checkLimits,
  checkGrants,
  checkPrices,
  checkLog,
  checkOverruns,
];

/** Checks that are done, of how many. */
export interface AuditProgress {
  done: number;
  of: number;
}

/** Reads the books at one moment. */
export function viewOf<Value>(sql: Sql, read: (view: Sql) => Promise<Value>): Promise<Value> {
  return sql.transaction(async (view) => {
    if (view.dialect === "postgres")
      await view.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    return read(view);
  });
}

/**
 * Reads all rows of calls that are kept: seconds for a million. @param onProgress called before each check
 * @param whenHeld reads the same moment, if the books hold @param features their tables, whose checks are the last ones
 */
export function auditBooks(
  sql: Sql,
  onProgress: (progress: AuditProgress) => void = () => {},
  whenHeld: (view: Sql) => Promise<void> = async () => {},
  features: readonly NamedTables[] = [],
): Promise<AuditReport> {
  const all = [
    ...CHECKS,
    ...features.flatMap(({ tables }): readonly Check[] =>
      tables.prove ? [(view) => tables.prove!(view)] : [],
    ),
  ];
  return viewOf(sql, async (view) => {
    const checks: AuditCheck[] = [];
    for (const check of all) {
      onProgress({ done: checks.length, of: all.length });
      checks.push(await check(view, ALL));
    }
    const holds = checks.every((check) => check.holds);
    if (holds) await whenHeld(view);
    return { holds, checks };
  });
}

async function count(sql: Sql, text: string): Promise<number> {
  const [row] = await sql.all<{ count: number }>(`SELECT count(*) AS count FROM ${text}`);
  return row!.count;
}

export async function checkCalls(sql: Sql, since = ALL): Promise<AuditCheck> {
  const calls = await count(sql, `calls WHERE number > ${since}`);
  const twice = await count(
    sql,
    `(SELECT 1 AS one FROM calls WHERE number > ${since}
      GROUP BY request, CASE WHEN length(request) = 12 THEN at ELSE 0 END HAVING count(*) > 1) AS twice`,
  );
  return {
    name: "every call has one record",
    holds: twice === 0,
    detail: twice === 0 ? counted(calls, "call") : `${twice} of ${calls} calls have several records`,
  };
}

export async function checkDropped(sql: Sql): Promise<AuditCheck> {
  const [row] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'dropped_calls'");
  const dropped = row?.value ?? 0;
  return {
    name: "no record was dropped",
    holds: dropped === 0,
    detail:
      dropped === 0
        ? "none"
        : `${dropped} records were dropped, because the keeper was away for long or the store refused them; budgets count them, sums of calls do not`,
  };
}

export async function checkAttempts(sql: Sql, since = ALL): Promise<AuditCheck> {
  const attempts = await count(sql, `(${ATTEMPTS}) AS attempts WHERE number > ${since}`);
  const single = await count(
    sql,
    `calls WHERE number > ${since} AND tries = 1 AND (state IS NULL OR target IS NULL OR accounts IS NULL)`,
  );
  const several = await count(
    sql,
    `calls WHERE number > ${since} AND tries > 1 AND tries <> (SELECT count(*) FROM charges WHERE charges.number = calls.number)`,
  );
  const alone = await count(
    sql,
    `charges WHERE number > ${since}
       AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.number = charges.number AND calls.tries > 1)`,
  );
  const unknown = await count(
    sql,
    `(${ATTEMPTS}) AS attempts WHERE number > ${since} AND (state < 0 OR state >= ${CHARGE_STATES.length}
       OR (state IN (${STATE.unpriced}, ${STATE.free}) AND cost <> 0))`,
  );
  const wrong = single + several + alone + unknown;
  return {
    name: "every attempt has a charge",
    holds: wrong === 0,
    detail:
      wrong === 0
        ? counted(attempts, "attempt")
        : `${single + several} calls lack a charge, ${alone} charges lack a call, ${unknown} charges do not fit their state`,
  };
}

export async function checkCharges(sql: Sql, since = ALL): Promise<AuditCheck> {
  const wrong = await count(
    sql,
    `(SELECT calls.number FROM calls LEFT JOIN charges ON charges.number = calls.number
      WHERE calls.number > ${since} AND calls.tries <> 1
      GROUP BY calls.number, calls.cost, calls.held
      HAVING calls.cost <> coalesce(sum(charges.cost), 0) OR calls.held <> coalesce(sum(charges.held), 0)) AS wrong`,
  );
  const [row] = await sql.all<{ cost: Nano }>(
    `SELECT coalesce(sum(cost), 0) AS cost FROM calls WHERE number > ${since}`,
  );
  return {
    name: "calls cost what their attempts were charged",
    holds: wrong === 0,
    detail: wrong === 0 ? sayNano(row!.cost) : `${wrong} calls do not`,
  };
}

/** The first hour whose calls are all kept. Deletion is by the time of the commit, which is after the start. */
async function completeFrom(sql: Sql): Promise<number> {
  const rows = await sql.all<{ value: number }>(
    "SELECT value FROM meta WHERE name IN ('calls_from', 'hours_from')",
  );
  const latest = Math.max(0, ...rows.map(({ value }) => value));
  return Math.ceil(latest / HOUR_MS) * HOUR_MS;
}

const minus = (column: string) => `-${column} AS ${column}`;
const differs = (columns: readonly string[]) => columns.map((column) => `sum(${column}) <> 0`).join(" OR ");

/** The calls of removed keys are deleted, and their sums are those of one caller. */
const KEPT = `caller NOT IN (SELECT id FROM names WHERE kind = 'caller' AND text = '${REMOVED_CALLER}')`;

async function checkHours(sql: Sql): Promise<AuditCheck> {
  const from = await completeFrom(sql);
  const wrong = await sql.all<{ hour: number; cost: Nano }>(
    `SELECT hour, sum(cost) AS cost FROM (
       SELECT ${HOUR} AS hour, caller, ${CALL_ADDS} FROM calls WHERE at >= $1
       UNION ALL SELECT hour, caller, ${OF_CALLS.map(minus).join(", ")} FROM use_hour WHERE hour >= $1 AND ${KEPT}
     ) AS both_sides GROUP BY hour, caller HAVING ${differs(OF_CALLS)} ORDER BY hour`,
    [from],
  );
  return sameSums("the sums by hour are those of the calls", wrong);
}

async function checkTargets(sql: Sql): Promise<AuditCheck> {
  const from = await completeFrom(sql);
  const wrong = await sql.all<{ hour: number; cost: Nano }>(
    `SELECT hour, sum(cost) AS cost FROM (
       SELECT ${HOUR} AS hour, caller, target, 1 AS attempts, cost, ${STATE_ADDS} FROM (${ATTEMPTS}) AS attempts WHERE at >= $1
       UNION ALL SELECT hour, caller, target, ${OF_ATTEMPTS.map(minus).join(", ")} FROM use_hour WHERE hour >= $1 AND ${KEPT}
     ) AS both_sides GROUP BY hour, caller, target HAVING ${differs(OF_ATTEMPTS)} ORDER BY hour`,
    [from],
  );
  return sameSums("the sums by target are those of the attempts", wrong);
}

async function checkDays(sql: Sql): Promise<AuditCheck> {
  const [kept] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'hours_from'");
  const from = Math.ceil((kept?.value ?? 0) / DAY_MS) * DAY_MS;
  const wrong = await sql.all<{ hour: number; cost: Nano }>(
    `SELECT day AS hour, sum(cost) AS cost FROM (
       SELECT hour - hour % ${DAY_MS} AS day, caller, target, ${SUMS.join(", ")} FROM use_hour WHERE hour >= $1
       UNION ALL SELECT day, caller, target, ${SUMS.map(minus).join(", ")} FROM use_day WHERE day >= $1
     ) AS both_sides GROUP BY day, caller, target HAVING ${differs(SUMS)} ORDER BY day`,
    [from],
  );
  return sameSums("the sums by day are those of the hours", wrong);
}

function sameSums(name: string, wrong: readonly { hour: number; cost: Nano }[]): AuditCheck {
  if (wrong.length === 0) return { name, holds: true, detail: "to the nano-dollar" };
  const { hour, cost } = wrong[0]!;
  const time = new Date(hour).toISOString().slice(0, 16).replace("T", " ");
  return {
    name,
    holds: false,
    detail: `${wrong.length} sums differ, the first at ${time} UTC by ${cost} nano-dollars`,
  };
}

async function checkLog(sql: Sql): Promise<AuditCheck> {
  const { entries, older, fault } = await checkChain(sql);
  const earlier = older === 0 ? "" : `, and ${older} of earlier versions without a hash`;
  return {
    name: "the audit log is as weir wrote it",
    holds: fault === undefined,
    detail: fault ?? `${entries === 1 ? "1 entry" : `${entries.toLocaleString("en")} entries`}${earlier}`,
  };
}

export async function checkPrices(sql: Sql, since = ALL): Promise<AuditCheck> {
  const used = await count(
    sql,
    `(SELECT 1 AS one FROM (${ATTEMPTS}) AS attempts WHERE number > ${since} AND price IS NOT NULL GROUP BY price) AS used`,
  );
  const missing = await count(
    sql,
    `(${ATTEMPTS}) AS attempts WHERE number > ${since} AND price IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM prices WHERE prices.id = attempts.price AND prices.rule <> '' AND prices.source <> '')`,
  );
  const none = await count(
    sql,
    `(${ATTEMPTS}) AS attempts WHERE number > ${since} AND price IS NULL AND cost <> 0 AND state <> ${STATE.reported}`,
  );
  return {
    name: "every price that was used is kept, with its source",
    holds: missing + none === 0,
    detail:
      missing + none === 0
        ? counted(used, "price")
        : `${missing} charges name a price that is not kept, ${none} name no price`,
  };
}
