/** Writes everything that has arrived at the keeper since the last commit, in one transaction. */
import type { CallRecord } from "../../ledger/record.ts";
import { assume, book, giveBack } from "../store/accounts.ts";
import { CALL_COLUMNS, callRow, CHARGE_COLUMNS, chargeRows, packHash, startOf } from "./call-rows.ts";
import { COMMITS } from "../store/meta.ts";
import { callerOf, type Names } from "../store/names.ts";
import type { Numbers } from "../store/numbers.ts";
import type { FeatureRows } from "./feature-rows.ts";
import { RollUps } from "./roll-ups.ts";
import type { Sql, SqlValue, Transaction } from "../store/sql.ts";
import type { Commit, LostRows } from "../store/store.ts";

/** After this time nothing is left of a margin. Milliseconds. */
export const MARGIN_MS = 7 * 86_400_000;
/** A margin replaces a larger one after this time, of which half is left then. Milliseconds. */
const FRESH_MS = 86_400_000;

/** The worker of commits that have a number. */
const KEEPER = -1;

export interface CommitContext {
  sql: Sql;
  node: string;
  names: Names;
  numbers: Numbers;
  rows: FeatureRows;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Batches that are in the store already are left out. A failure leaves the store as it was.
 * @returns rows of features that were not written
 */
export async function writeCommit(context: CommitContext, commit: Commit): Promise<readonly LostRows[]> {
  const { sql, names, rows, now } = context;
  const calls = commit.batches.flatMap((batch) => batch.calls);
  const prices = commit.batches.flatMap((batch) => batch.prices);
  await names.load(calls, rows.names(calls));
  await names.loadPrices(prices, calls, now);
  return sql.transaction((inner) => writeAll({ ...context, sql: inner }, commit));
}

async function writeAll(
  context: CommitContext & { sql: Transaction },
  commit: Commit,
): Promise<readonly LostRows[]> {
  const { sql, node, now } = context;
  if (commit.once && !(await isNew(sql, { ...commit.once, worker: KEEPER }, now))) return [];
  // Nodes of one server would wait for each other's row.
  if (sql.dialect === "sqlite") await addToMeta(sql, COMMITS, 1);
  const calls: CallRecord[] = [];
  let dropped = 0;
  const spends = new Map<string, { spent: number; assumed: number; overrun: number }>();
  for (const batch of commit.batches) {
    if (!(await isNew(sql, batch, now))) continue;
    calls.push(...batch.calls);
    dropped += batch.dropped ?? 0;
    for (const { account, spent, assumed, overrun } of batch.spends) {
      const total = spends.get(account) ?? { spent: 0, assumed: 0, overrun: 0 };
      total.spent += spent;
      total.assumed += assumed;
      total.overrun += overrun;
      spends.set(account, total);
    }
  }
  const numbers = await writeCalls(context, calls);
  if (dropped > 0) await addToMeta(sql, "dropped_calls", dropped);
  const inOrder = [...spends].sort(([a], [b]) => (a < b ? -1 : 1));
  // First, because what is no longer assumed is then spent.
  for (const assumption of commit.assumptions) await assume(sql, node, assumption, now);
  for (const [account, amounts] of inOrder) await book(sql, node, { account, ...amounts });
  for (const { account, amount } of commit.returns) await giveBack(sql, node, account, amount);
  for (const { account, percent } of commit.alerted)
    await sql.run("UPDATE accounts SET alerted = $2 WHERE account = $1 AND alerted < $2", [account, percent]);
  await writeMargins(sql, commit.margins, now);
  await sql.insert(
    "rate_levels",
    ["account", "level", "at"],
    commit.rates.map(({ account, level, at }) => [account, level, at]),
    "ON CONFLICT (account) DO UPDATE SET level = excluded.level, at = excluded.at",
  );
  return context.rows.write(sql, context.names, calls, numbers);
}

/** Adds to a counter of the books. */
async function addToMeta(sql: Sql, name: string, amount: number): Promise<void> {
  await sql.run(
    `INSERT INTO meta (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = meta.value + excluded.value`,
    [name, amount],
  );
}

/** Notes the position of a batch. @returns whether it was not yet in the store */
async function isNew(
  sql: Sql,
  { life, worker, seq }: Pick<Commit["batches"][number], "life" | "worker" | "seq">,
  now: number,
): Promise<boolean> {
  const changed = await sql.run(
    `INSERT INTO positions (life, worker, seq, at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (life) DO UPDATE SET seq = excluded.seq, at = excluded.at WHERE positions.seq < excluded.seq`,
    [life, worker, seq, now],
  );
  return changed > 0;
}

/** @returns the numbers of the calls */
async function writeCalls(
  { sql, names, numbers, now }: CommitContext,
  calls: readonly CallRecord[],
): Promise<readonly number[]> {
  const rows: SqlValue[][] = [];
  const charges: SqlValue[][] = [];
  const rollUps = new RollUps(names);
  const given: number[] = [];
  for (const call of calls) {
    const number = numbers.next(now);
    given.push(number);
    rows.push(callRow(number, call, names));
    charges.push(...chargeRows(number, call, names));
    rollUps.add(call);
  }
  await sql.insert("calls", CALL_COLUMNS, rows);
  await sql.insert("charges", CHARGE_COLUMNS, charges);
  await rollUps.write(sql);
  await writeSessions(sql, calls, names);
  return given;
}

async function writeSessions(sql: Sql, calls: readonly CallRecord[], names: Names): Promise<void> {
  const sessions = new Map<string, { caller: number; first: number; last: number; calls: number }>();
  for (const call of calls) {
    if (call.session === undefined) continue;
    const at = startOf(call);
    const session = sessions.get(call.session) ?? {
      caller: names.id("caller", callerOf(call)),
      first: at,
      last: at,
      calls: 0,
    };
    session.first = Math.min(session.first, at);
    session.last = Math.max(session.last, at);
    session.calls += 1;
    sessions.set(call.session, session);
  }
  await sql.insert(
    "sessions",
    ["session", "caller", "first_at", "last_at", "calls"],
    // In one order, as names.
    [...sessions]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([hash, { caller, first, last, calls: count }]) => [packHash(hash), caller, first, last, count]),
    `ON CONFLICT (session) DO UPDATE SET
       last_at = CASE WHEN sessions.last_at > excluded.last_at THEN sessions.last_at ELSE excluded.last_at END,
       calls = sessions.calls + excluded.calls`,
  );
}

/** Keeps the largest margin of the last day, as the target with the kind, and per cent. Rows without a kind are not read. */
async function writeMargins(sql: Sql, margins: Commit["margins"], now: number): Promise<void> {
  // A commit that an earlier version of weir kept while the store was away has no factors.
  for (const { target, kind, factor } of margins.filter((margin) => margin.factor > 1))
    await sql.run(
      `INSERT INTO margins (target, tokens, at) VALUES ($1, $2, $3)
       ON CONFLICT (target) DO UPDATE SET tokens = excluded.tokens, at = excluded.at
       WHERE excluded.tokens >= margins.tokens OR margins.at < $4`,
      [`${target} ${kind}`, Math.round(factor * 100), now, now - FRESH_MS],
    );
}
