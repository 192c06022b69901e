/** Sums of the newest rows of calls: by hour, and by what they were charged to. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { ATTEMPTS } from "../reports/attempts.ts";
import type { Amounts } from "../reports/audit-accounts.ts";
import { CALL_ADDS, HOUR, OF_CALLS, OF_STATES, STATE_ADDS } from "../reports/sums.ts";
import { firstNumber } from "../store/numbers.ts";
import type { Sql } from "../store/sql.ts";

/** The columns of the sums of an hour. */
export const HOUR_SUMS: readonly string[] = [...OF_CALLS, ...OF_STATES];

/** Nodes of one server commit beside each other, so a number may appear after a larger one. Newer rows are read again. */
const SETTLED_MS = 120_000;

const ASSUMED = CHARGE_STATES.indexOf("assumed");

/** Sums by the name of a column. */
export type Sums = Record<string, number>;

/** The calls behind a number, up to another one. */
export interface Span {
  after: number;
  /** Undefined: all. */
  to?: number;
}

/** @returns the number up to which no call will appear any more; it is at least `from` */
export async function settledNumber(sql: Sql, from: number, now: number): Promise<number> {
  if (sql.dialect === "postgres") return Math.max(from, firstNumber(now - SETTLED_MS) - 1);
  const [row] = await sql.all<{ number: number | null }>("SELECT max(number) AS number FROM calls");
  return Math.max(from, row?.number ?? from);
}

const within = ({ after, to }: Span, column = "number") =>
  `${column} > ${after}${to === undefined ? "" : ` AND ${column} <= ${to}`}`;

/** @returns sums by hour */
export async function hoursOf(sql: Sql, span: Span): Promise<Map<number, Sums>> {
  const none = (columns: readonly string[]) => columns.map((column) => `0 AS ${column}`).join(", ");
  const rows = await sql.all<{ hour: number } & Sums>(
    `SELECT hour, ${HOUR_SUMS.map((column) => `sum(${column}) AS ${column}`).join(", ")} FROM (
       SELECT ${HOUR} AS hour, ${CALL_ADDS}, ${none(OF_STATES)} FROM calls WHERE ${within(span)}
       UNION ALL SELECT ${HOUR} AS hour, ${none(OF_CALLS)}, ${STATE_ADDS} FROM (${ATTEMPTS}) AS attempts WHERE ${within(span)}
     ) AS rows GROUP BY hour`,
  );
  return new Map(rows.map(({ hour, ...sums }) => [hour, sums]));
}

/** @returns what was charged, by window of a budget */
export async function chargedIn(sql: Sql, span: Span): Promise<Map<string, Amounts>> {
  const rows = await sql.all<Amounts & { accounts: string }>(
    `SELECT names.text AS accounts, charged.spent, charged.assumed, charged.overrun FROM (
       SELECT accounts, sum(CASE WHEN state = ${ASSUMED} THEN 0 ELSE cost END) AS spent,
         sum(CASE WHEN state = ${ASSUMED} THEN cost ELSE 0 END) AS assumed,
         sum(CASE WHEN cost > held THEN cost - held ELSE 0 END) AS overrun
       FROM (${ATTEMPTS}) AS attempts WHERE ${within(span)} AND accounts IS NOT NULL GROUP BY accounts
     ) AS charged JOIN names ON names.id = charged.accounts`,
  );
  const charged = new Map<string, Amounts>();
  for (const { accounts, ...amounts } of rows)
    for (const account of JSON.parse(accounts) as string[])
      charged.set(account, addAmounts(charged.get(account) ?? NOTHING, amounts));
  return charged;
}

export const NOTHING: Amounts = { spent: 0, assumed: 0, overrun: 0 };

export function addAmounts(a: Amounts, b: Amounts, sign: 1 | -1 = 1): Amounts {
  return {
    spent: a.spent + sign * b.spent,
    assumed: a.assumed + sign * b.assumed,
    overrun: a.overrun + sign * b.overrun,
  };
}

export function addSums(a: Sums | undefined, b: Sums | undefined, sign: 1 | -1 = 1): Sums {
  return Object.fromEntries(
    HOUR_SUMS.map((column) => [column, (a?.[column] ?? 0) + sign * (b?.[column] ?? 0)]),
  );
}

/** `$1, $2`: parameters of a list. */
export const listed = (values: readonly unknown[]) => values.map((_, at) => `$${at + 1}`).join(", ");

/** Amounts of workers and nodes that ended, by window of a budget. */
export async function assumedOf(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ account: string; amount: number }>(
    "SELECT account, sum(amount) AS amount FROM assumptions GROUP BY account",
  );
  return new Map(rows.map(({ account, amount }) => [account, amount]));
}
