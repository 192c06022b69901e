/**
 * Proves the rows that came since the last proof: each by itself, and their sums with what was kept of the rows before them. An old
 * row that was changed by hand is not read here: the proof of all rows finds it.
 */
import {
  type Account,
  accountFault,
  isSomething,
  type Amounts,
  checkGrants,
  hardSince,
} from "../reports/audit-accounts.ts";
import {
  checkAttempts,
  checkCalls,
  checkCharges,
  checkDropped,
  checkPrices,
  viewOf,
} from "../reports/audit.ts";
import { DAY_MS } from "../record/roll-ups.ts";
import { readChain } from "../store/audit-log.ts";
import type { Sql } from "../store/sql.ts";
import { addAccounts, addHours, columnsOf, type Place } from "./base.ts";
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
  type Span,
  type Sums,
} from "./rows.ts";

/** Calls that one step reads: milliseconds of the thread that reads, which others wait for. */
export const STEP = 2_500;

interface Row extends Place {
  at: number;
}

/** What one step has read. */
interface Step {
  base: Row;
  /** The next proof begins behind it. */
  next: Place;
  /** Of the calls up to `next`. */
  hours: ReadonlyMap<number, Sums>;
  accounts: ReadonlyMap<string, Amounts>;
  calls: number;
  /** Also of newer ones, which the next proof reads again. */
  read: number;
  /** More calls wait than a step reads; only the last one compares. */
  isLast: boolean;
  /** What does not hold, in one sentence. */
  fault?: string;
}

/** `none`: nothing is kept to build on. */
export type Since = { proven: number } | { fault: string } | "none";

/** @param reader that no page waits for @param now milliseconds since 1970 @returns how many calls it has proven */
export async function proveSince(reader: Sql, writer: Sql, now: () => number): Promise<Since> {
  for (let proven = 0, began = performance.now(); ; began = performance.now()) {
    const step = await viewOf(reader, (view) => readStep(view, now()));
    if (!step) return "none";
    if (step.fault !== undefined) return { fault: step.fault };
    proven += step.read;
    const ms = Math.round(performance.now() - began);
    // Where another node was faster, its proof is as good.
    if (!(await keepStep(writer, step, now(), ms)) || step.isLast) return { proven };
  }
}

async function readStep(view: Sql, now: number): Promise<Step | undefined> {
  const base = await readPlace(view);
  if (!base) return undefined;
  const settled = await settledNumber(view, base.number, now);
  const [end] = await view.all<{ number: number }>(
    `SELECT number FROM calls WHERE number > $1 ORDER BY number LIMIT 1 OFFSET ${STEP - 1}`,
    [base.number],
  );
  const isLast = end === undefined || end.number >= settled;
  const to = isLast ? settled : end.number;
  const hours = await hoursOf(view, { after: base.number, to });
  const accounts = await chargedIn(view, { after: base.number, to });
  const calls = callsIn(hours);
  const part = { base, hours, accounts, calls, isLast };
  if (!isLast) return { ...part, read: calls, next: { number: to, log: base.log } };
  const rest: Span = { after: to };
  const newer = view.dialect === "sqlite" ? new Map<number, Sums>() : await hoursOf(view, rest);
  const chain = await readChain(view, { entries: base.log.entries, older: 0, last: base.log });
  const fault =
    chain.fault ??
    (await rowFault(view, base.number)) ??
    (await hourFault(view, joined(hours, newer, addSums))) ??
    (await windowFault(view, joined(accounts, await chargedIn(view, rest), addAmounts)));
  const next = { number: to, log: { entries: chain.entries, ...chain.last } };
  return { ...part, read: calls + callsIn(newer), next, ...(fault !== undefined && { fault }) };
}

async function readPlace(view: Sql): Promise<Row | undefined> {
  const [row] = await view.all<{
    number: number;
    at: number;
    log_entries: number;
    log_id: number;
    log_hash: string | null;
  }>("SELECT number, at, log_entries, log_id, log_hash FROM proof");
  if (!row) return undefined;
  const { number, at, log_entries: entries, log_id: id, log_hash: hash } = row;
  return { number, at, log: { entries, id, hash } };
}

const callsIn = (hours: ReadonlyMap<number, Sums>) =>
  [...hours.values()].reduce((sum, { calls = 0 }) => sum + calls, 0);

function joined<Key, Value>(
  a: ReadonlyMap<Key, Value>,
  b: ReadonlyMap<Key, Value>,
  add: (a: Value, b: Value) => Value,
): Map<Key, Value> {
  const both = new Map(a);
  for (const [key, value] of b) {
    const first = both.get(key);
    both.set(key, first === undefined ? value : add(first, value));
  }
  return both;
}

/** The checks that look at each row by itself, and those of the few rows that have no calls. */
async function rowFault(view: Sql, since: number): Promise<string | undefined> {
  const checks = [checkCalls, checkAttempts, checkCharges, checkPrices];
  for (const check of checks) {
    const { holds, name, detail } = await check(view, since);
    if (!holds) return `${name}: ${detail}`;
  }
  for (const check of [checkDropped, checkGrants]) {
    const { holds, name, detail } = await check(view);
    if (!holds) return `${name}: ${detail}`;
  }
  return undefined;
}

/** Compares the hours, and the days, in which calls began. @param added to the sums that were kept */
async function hourFault(view: Sql, added: ReadonlyMap<number, Sums>): Promise<string | undefined> {
  if (added.size === 0) return undefined;
  const hours = [...added.keys()];
  const sums = HOUR_SUMS.map((column) => `sum(${column}) AS ${column}`).join(", ");
  const byHour = async (table: string) => {
    const rows = await view.all<{ hour: number } & Sums>(
      `SELECT hour, ${sums} FROM ${table} WHERE hour IN (${listed(hours)}) GROUP BY hour`,
      hours,
    );
    return new Map(rows.map(({ hour, ...row }) => [hour, row as Sums]));
  };
  const [kept, before] = [await byHour("use_hour"), await byHour("proof_hours")];
  for (const [hour, sum] of added) {
    const wanted = addSums(before.get(hour), sum);
    const column = HOUR_SUMS.find((name) => wanted[name] !== (kept.get(hour)?.[name] ?? 0));
    if (column !== undefined)
      return `the ${column} of the hour ${new Date(hour).toISOString()} are not those of its calls`;
  }
  return dayFault(view, added);
}

/** Compares days with their hours: those that were kept, which begin with whole days, and what was added. */
async function dayFault(view: Sql, added: ReadonlyMap<number, Sums>): Promise<string | undefined> {
  const sums = HOUR_SUMS.map((column) => `coalesce(sum(${column}), 0) AS ${column}`).join(", ");
  for (const day of new Set([...added.keys()].map((hour) => hour - (hour % DAY_MS)))) {
    const [kept] = await view.all<Sums>(`SELECT ${sums} FROM proof_hours WHERE hour >= $1 AND hour < $2`, [
      day,
      day + DAY_MS,
    ]);
    const newer = [...added].filter(([hour]) => hour - (hour % DAY_MS) === day);
    const wanted = newer.reduce<Sums>((sum, [, more]) => addSums(sum, more), kept!);
    const [whole] = await view.all<Sums>(`SELECT ${sums} FROM use_day WHERE day = $1`, [day]);
    if (HOUR_SUMS.some((column) => wanted[column] !== whole![column]))
      return `the sums of the day ${new Date(day).toISOString().slice(0, 10)} are not those of its hours`;
  }
  return undefined;
}

/** Compares the windows of budgets that calls were charged to. @param added to what was kept */
async function windowFault(view: Sql, added: ReadonlyMap<string, Amounts>): Promise<string | undefined> {
  if (added.size === 0) return undefined;
  const names = [...added.keys()];
  const rows = <Found>(table: string, columns: string) =>
    view.all<Found>(`SELECT ${columns} FROM ${table} WHERE account IN (${listed(names)})`, names);
  const kept = await rows<Amounts & { account: string }>(
    "proof_accounts",
    "account, spent, assumed, overrun",
  );
  const before = new Map(kept.map(({ account, ...amounts }) => [account, amounts]));
  const assumed = await assumedOf(view);
  const wasHard = await hardSince(view);
  const windows = await rows<Account>(
    "accounts",
    "account, budget, starts_at, spent, assumed, overrun, granted",
  );
  const known = new Set(windows.map(({ account }) => account));
  if ([...added].some(([account, sum]) => isSomething(sum) && !known.has(account)))
    return "calls were charged to a window that does not exist";
  for (const window of windows) {
    const { account } = window;
    const sum = addAmounts(before.get(account) ?? NOTHING, added.get(account)!);
    const own = { ...NOTHING, assumed: assumed.get(account) ?? 0 };
    const fault = accountFault(window, addAmounts(sum, own), wasHard);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** @returns whether no other node was faster */
function keepStep(writer: Sql, { base, next, ...step }: Step, now: number, ms: number): Promise<boolean> {
  return writer.transaction(async (sql) => {
    const { log_entries: entries, log_id: id, log_hash: hash } = columnsOf(next.log);
    const changed = await sql.run(
      `UPDATE proof SET number = $3, at = $4, calls = calls + $5, ms = $6, log_entries = $7, log_id = $8, log_hash = $9
       WHERE number = $1 AND at = $2`,
      [base.number, base.at, next.number, step.isLast ? now : base.at, step.calls, ms, entries, id, hash],
    );
    if (changed === 0) return false;
    await addHours(sql, step.hours);
    await addAccounts(sql, step.accounts);
    return true;
  });
}
