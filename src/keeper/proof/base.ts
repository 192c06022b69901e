/** What the proof of all rows leaves in the store, so that the next ones read only the rows behind it. */
import { DAY_MS } from "../record/roll-ups.ts";
import type { Amounts } from "../reports/audit-accounts.ts";
import type { AuditReport } from "../reports/shapes.ts";
import { readChain } from "../store/audit-log.ts";
import type { Sql, SqlValue } from "../store/sql.ts";
import {
  addAmounts,
  addSums,
  assumedOf,
  chargedIn,
  HOUR_SUMS,
  hoursOf,
  listed,
  NOTHING,
  settledNumber,
  type Sums,
} from "./rows.ts";

/** Hours and windows of budgets that ended before are not kept: a row that comes so late costs a proof of all rows. Milliseconds. */
const KEPT_MS = 3 * DAY_MS;

/** How far the books are proven. */
export interface Place {
  number: number;
  log: { entries: number; id: number; hash: string | null };
}

/** The sums of all rows up to a place. */
export interface Base extends Place {
  hours: ReadonlyMap<number, Sums>;
  accounts: ReadonlyMap<string, Amounts>;
}

/** Of books that hold. @param now milliseconds since 1970 */
export async function readBase(view: Sql, now: number): Promise<Base> {
  const number = await settledNumber(view, 0, now);
  const newer = { after: number };
  const hours = new Map<number, Sums>();
  const late = await hoursOf(view, newer);
  const rows = await view.all<{ hour: number } & Sums>(
    `SELECT hour, ${HOUR_SUMS.map((column) => `sum(${column}) AS ${column}`).join(", ")} FROM use_hour WHERE hour >= $1 GROUP BY hour`,
    [Math.floor((now - KEPT_MS) / DAY_MS) * DAY_MS],
  );
  for (const { hour, ...sums } of rows) hours.set(hour, addSums(sums, late.get(hour), -1));
  const charged = await chargedIn(view, newer);
  const assumed = await assumedOf(view);
  const windows = await view.all<Amounts & { account: string }>(
    "SELECT account, spent, assumed, overrun FROM accounts WHERE ends_at IS NULL OR ends_at > $1",
    [now - KEPT_MS],
  );
  const accounts = new Map<string, Amounts>();
  for (const { account, ...amounts } of windows) {
    const calls = { ...amounts, assumed: amounts.assumed - (assumed.get(account) ?? 0) };
    accounts.set(account, addAmounts(calls, charged.get(account) ?? NOTHING, -1));
  }
  const { entries, last } = await readChain(view, { entries: 0, older: 0, last: { id: 0, hash: null } });
  return { number, hours, accounts, log: { entries, ...last } };
}

/** Replaces what was kept. @param base undefined: the books do not hold, so nothing is built on them */
export function keepBase(
  sql: Sql,
  base: Base | undefined,
  { report, at, ms }: { report: AuditReport; at: number; ms: number },
): Promise<void> {
  return sql.transaction(async (inner) => {
    await inner.run("DELETE FROM proof");
    if (base) {
      const { number, log } = base;
      const values = { id: 1, number, at, calls: 0, ms, full_at: at, full_ms: ms };
      const row = { ...values, ...columnsOf(log), report: JSON.stringify(report) };
      const columns = Object.keys(row);
      const isFirst = await inner.run(
        `INSERT INTO proof (${columns.join(", ")}) VALUES (${listed(columns)}) ON CONFLICT DO NOTHING`,
        Object.values(row),
      );
      // Another node has written its proof meanwhile: either will do.
      if (isFirst === 0) return;
    }
    for (const table of ["proof_hours", "proof_accounts"]) await inner.run(`DELETE FROM ${table}`);
    if (!base) return;
    await addHours(inner, base.hours);
    await addAccounts(inner, base.accounts);
  });
}

export function columnsOf({ entries, id, hash }: Place["log"]) {
  return { log_entries: entries, log_id: id, log_hash: hash };
}

export function addHours(sql: Sql, hours: ReadonlyMap<number, Sums>): Promise<void> {
  const rows = [...hours].map(([hour, sums]): SqlValue[] => [
    hour,
    ...HOUR_SUMS.map((column) => sums[column]!),
  ]);
  return sql.insert("proof_hours", ["hour", ...HOUR_SUMS], rows, adding("proof_hours", "hour", HOUR_SUMS));
}

export function addAccounts(sql: Sql, accounts: ReadonlyMap<string, Amounts>): Promise<void> {
  const columns = ["spent", "assumed", "overrun"];
  const rows = [...accounts].map(([account, { spent, assumed, overrun }]) => [
    account,
    ...[spent, assumed, overrun],
  ]);
  const clause = adding("proof_accounts", "account", columns);
  return sql.insert("proof_accounts", ["account", ...columns], rows, clause);
}

function adding(table: string, key: string, columns: readonly string[]): string {
  const added = columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `ON CONFLICT (${key}) DO UPDATE SET ${added.join(", ")}`;
}
