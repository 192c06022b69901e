/** Sessions whose prompts were not read from a cache, and the calls of one. */
import { BREAK_REASONS, type CacheBreak } from "../../ledger/record.ts";
import { packHash, unpackHash, unpackId } from "../../keeper/record/call-rows.ts";
import { firstNumber } from "../../keeper/store/numbers.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import { newestOf, oldestOf, type ReasonRow, withCommonest } from "./reasons.ts";
import { type Directory, inList } from "../../keeper/reports/directory.ts";
import type { Filter } from "../../keeper/reports/shapes.ts";
import type { CacheSession, LosingSessions } from "./shapes.ts";

/** Most calls of a session. */
const MOST_CALLS = 500;
/** Most calls of its caller among which they are searched. */
const MOST_SEARCHED = 50_000;
/** Rows of calls are written that much after their start at most. Milliseconds. */
const LATE_MS = 7_200_000;

/** The sessions that lost most. */
export async function cacheSessions(
  sql: Sql,
  directory: Directory,
  { limit, ...filter }: Filter & { limit: number },
): Promise<LosingSessions> {
  await directory.refresh();
  const newest = newestOf(directory, filter, filter);
  const rows = await sql.all<{
    session: Uint8Array;
    caller: number;
    client: number;
    at: number;
    breaks: number;
    lost: number;
    cost: number;
  }>(
    `SELECT session, caller, client, max(at) AS at, count(*) AS breaks, sum(tokens) AS lost, sum(cost) AS cost
     FROM ${newest.rows} GROUP BY session, caller, client ORDER BY cost DESC, lost DESC LIMIT $4`,
    [...newest.values, limit],
  );
  const clients = await directory.texts(rows.map(({ client }) => client));
  const shown = new Set(rows.map(({ session }) => session.toHex()));
  const reasons = new Map<string, ReasonRow[]>();
  for (const row of await sql.all<ReasonRow & { session: Uint8Array }>(
    `SELECT session, 0 AS day, caller, client, target, reason, section, count(*) AS breaks, sum(cost) AS cost
     FROM ${newest.rows} GROUP BY session, caller, client, target, reason, section`,
    newest.values,
  )) {
    const key = row.session.toHex();
    if (shown.has(key)) reasons.set(key, [...(reasons.get(key) ?? []), row]);
  }
  const sessions = rows.map(({ session, caller, client, at, breaks, lost, cost }) => {
    const { key = "", path = "/" } = directory.callers.get(caller) ?? {};
    const name = clients.get(client);
    const entry = {
      session: unpackHash(session),
      ...(key !== "" && { key }),
      path,
      ...(name !== undefined && { client: name }),
      ...{ lastAt: at, breaks, lost, lostCost: cost },
    };
    return withCommonest(entry, reasons.get(session.toHex()));
  });
  return { sessions, ...(await oldestOf(sql, newest)) };
}

/** @param session 16 hexadecimal digits @returns undefined if the session is not known */
export async function cacheSession(
  sql: Sql,
  directory: Directory,
  session: string,
): Promise<CacheSession | undefined> {
  await directory.refresh();
  const packed = packHash(session);
  const [row] = await sql.all<{ caller: number; first_at: number; last_at: number; calls: number }>(
    "SELECT caller, first_at, last_at, calls FROM sessions WHERE session = $1",
    [packed],
  );
  if (!row) return undefined;
  const calls = await sql.all<{
    number: number;
    request: Uint8Array;
    at: number;
    ms: number;
    model: number;
    target: number | null;
    status: number;
    input: number;
    cache_read: number;
    cache_write: number;
    cost: number;
  }>(
    `SELECT number, request, at, ms, model, target, status, input, cache_read, cache_write, cost
     FROM (SELECT * FROM calls WHERE caller = $1 AND number >= $2 AND number < $3
       ORDER BY number DESC LIMIT ${MOST_SEARCHED}) AS newest
     WHERE session = $4 ORDER BY number DESC LIMIT ${MOST_CALLS}`,
    [row.caller, firstNumber(row.first_at), firstNumber(row.last_at + LATE_MS), packed],
  );
  const models = await directory.texts(calls.map(({ model }) => model));
  const breaks = await readBreaks(
    sql,
    calls.map(({ number }) => number),
  );
  const { key = "", path = "/" } = directory.callers.get(row.caller) ?? {};
  return {
    session,
    ...(key !== "" && { key }),
    ...{ path, firstAt: row.first_at, lastAt: row.last_at, count: row.calls },
    calls: calls
      .reverse()
      .map(({ number, request, at, ms, model, target, status, input, cost, ...counts }) => {
        const { provider = "", deployment = "" } = directory.targets.get(target ?? 0) ?? {};
        const lost = breaks.get(number);
        return {
          ...{ id: unpackId(request, at), startedAt: at, ms, model: models.get(model) ?? "" },
          ...{ provider, deployment, status, input },
          ...{ cacheRead: counts.cache_read, cacheWrite: counts.cache_write, cost },
          ...(lost && { break: lost }),
        };
      }),
  };
}

/** Why calls read too little from a cache, by their numbers. */
export async function readBreaks(
  sql: Sql,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, CacheBreak>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql.all<{
    number: number;
    reason: number;
    section: string | null;
    after_ms: number;
    tokens: number;
    cost: number;
  }>(
    `SELECT number, reason, section, after_ms, tokens, cost FROM cache_breaks WHERE number ${inList(numbers)}`,
  );
  return new Map(
    rows.map(({ number, reason, section, after_ms, tokens, cost }) => [
      number,
      {
        reason: BREAK_REASONS[reason] ?? "provider",
        ...(section !== null && { section }),
        ...{ afterMs: after_ms, tokens, cost },
      },
    ]),
  );
}
