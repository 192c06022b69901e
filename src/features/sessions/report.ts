/** Sessions from the store: the newest ones, or one, with the sums of their calls. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { packHash, unpackHash, unpackId } from "../../keeper/record/call-rows.ts";
import { type Directory, inList } from "../../keeper/reports/directory.ts";
import type { Filter } from "../../keeper/reports/shapes.ts";
import { firstNumber } from "../../keeper/store/numbers.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import type { SessionRow } from "./contracts.ts";

/** Most calls of their callers among which those of sessions are searched. */
const MOST_SEARCHED = 50_000;
/** Rows of calls are written that much after their start at most. Milliseconds. */
const LATE_MS = 7_200_000;
const UNCERTAIN = ["estimated", "assumed"].map((state) => CHARGE_STATES.indexOf(state as "assumed"));
const UNPRICED = CHARGE_STATES.indexOf("unpriced");

type Row = Omit<SessionRow, "keyName"> & { first: string };

interface StoredSession {
  session: Uint8Array;
  caller: number;
  first_at: number;
  last_at: number;
  calls: number;
}

/** The newest sessions. `first`: id of the oldest call that was found. */
export async function newestSessions(
  sql: Sql,
  directory: Directory,
  { limit, from = 0, to = Number.MAX_SAFE_INTEGER, ...filter }: Filter & { limit: number },
): Promise<Row[]> {
  await directory.refresh();
  const callers = directory.callersOf(filter);
  if (callers?.length === 0) return [];
  const own = callers === undefined ? "" : ` AND caller ${inList(callers)}`;
  const stored = await sql.all<StoredSession>(
    `SELECT session, caller, first_at, last_at, calls FROM sessions
     WHERE last_at >= $1 AND first_at < $2${own} ORDER BY last_at DESC LIMIT $3`,
    [from, to, limit],
  );
  return withSums(sql, directory, stored);
}

/** @param session 16 hexadecimal digits @returns undefined if the session is not known */
export async function oneSession(sql: Sql, directory: Directory, session: string): Promise<Row | undefined> {
  await directory.refresh();
  const stored = await sql.all<StoredSession>(
    "SELECT session, caller, first_at, last_at, calls FROM sessions WHERE session = $1",
    [packHash(session)],
  );
  return (await withSums(sql, directory, stored))[0];
}

interface Sums {
  session: Uint8Array;
  summed: number;
  tool_turns: number;
  failed: number;
  input: number;
  cache_read: number;
  cache_write: number;
  output: number;
  cost: number;
  uncertain: number;
  unpriced: number;
  first: number;
  newest: number;
}

async function withSums(sql: Sql, directory: Directory, stored: readonly StoredSession[]): Promise<Row[]> {
  if (stored.length === 0) return [];
  const [toolCalls] = await sql.all<{ id: number }>(
    "SELECT id FROM names WHERE kind = 'finish' AND text = 'tool-calls'",
  );
  const sums = await sql.all<Sums>(
    `SELECT session, count(*) AS summed, sum(CASE WHEN finish = $3 THEN 1 ELSE 0 END) AS tool_turns,
       sum(CASE WHEN outcome = 1 THEN 1 ELSE 0 END) AS failed, sum(input) AS input, sum(cache_read) AS cache_read,
       sum(cache_write) AS cache_write, sum(output) AS output, sum(cost) AS cost,
       sum(CASE WHEN state ${inList(UNCERTAIN)} THEN 1 ELSE 0 END) AS uncertain,
       sum(CASE WHEN state = ${UNPRICED} THEN 1 ELSE 0 END) AS unpriced, min(number) AS first, max(number) AS newest
     FROM (SELECT * FROM calls WHERE caller ${inList([...new Set(stored.map(({ caller }) => caller))])}
       AND number >= $1 AND number < $2 ORDER BY number DESC LIMIT ${MOST_SEARCHED}) AS newest
     WHERE session IS NOT NULL GROUP BY session`,
    [
      firstNumber(Math.min(...stored.map((one) => one.first_at))),
      firstNumber(Math.max(...stored.map((one) => one.last_at)) + LATE_MS),
      toolCalls?.id ?? -1,
    ],
  );
  const bySession = new Map(sums.map((row) => [row.session.toHex(), row]));
  const ends = await endsOf(sql, directory, sums);
  return stored.map(({ session, caller, ...facts }) => {
    const { key = "", path = "/" } = directory.callers.get(caller) ?? {};
    const sum = bySession.get(session.toHex());
    const client = ends.get(sum?.newest ?? -1)?.client;
    return {
      ...{ session: unpackHash(session), path, first: ends.get(sum?.first ?? -1)?.id ?? "" },
      ...(key !== "" && { key }),
      ...(client !== undefined && { client }),
      ...{ firstAt: facts.first_at, lastAt: facts.last_at, count: facts.calls },
      ...{ summed: sum?.summed ?? 0, toolTurns: sum?.tool_turns ?? 0, failed: sum?.failed ?? 0 },
      prompt: sum ? sum.input + sum.cache_read + sum.cache_write : 0,
      ...{ cacheRead: sum?.cache_read ?? 0, output: sum?.output ?? 0, cost: sum?.cost ?? 0 },
      ...{ uncertain: sum?.uncertain ?? 0, unpriced: sum?.unpriced ?? 0 },
    };
  });
}

/** The oldest and the newest call of each session, by their numbers. */
async function endsOf(sql: Sql, directory: Directory, sums: readonly Sums[]) {
  const numbers = sums.flatMap(({ first, newest }) => [first, newest]);
  const rows =
    numbers.length === 0
      ? []
      : await sql.all<{ number: number; request: Uint8Array; at: number; client: number | null }>(
          `SELECT number, request, at, client FROM calls WHERE number ${inList(numbers)}`,
        );
  const clients = await directory.texts(rows.flatMap(({ client }) => client ?? []));
  return new Map(
    rows.map(({ number, request, at, client }) => [
      number,
      { id: unpackId(request, at), client: clients.get(client ?? -1) },
    ]),
  );
}
