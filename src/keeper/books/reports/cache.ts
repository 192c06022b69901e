/** The caches of providers: sums from the roll-ups by day, reasons from the calls that read too little. */
import { BREAK_REASONS, type CacheBreak } from "../../../ledger/record.ts";
import { packHash, unpackHash, unpackId } from "../call-rows.ts";
import { firstNumber } from "../numbers.ts";
import { DAY_MS } from "../roll-ups.ts";
import { CACHE_SUMS } from "../schema.ts";
import type { Sql } from "../sql.ts";
import { type Directory, inList } from "./directory.ts";
import type {
  CacheGroup,
  CacheReport,
  CacheRow,
  CacheSession,
  CacheSums,
  Commonest,
  Filter,
  LosingSessions,
} from "./types.ts";

/** Most calls that read too little which one report looks at: the newest. */
const MOST_BREAKS = 50_000;
/** Most calls of a session. */
const MOST_CALLS = 500;
/** Most calls of its caller among which they are searched. */
const MOST_SEARCHED = 50_000;
/** Rows of calls are written that much after their start at most. Milliseconds. */
const LATE_MS = 7_200_000;

type Column = (typeof CACHE_SUMS)[number];

const MEMBERS: Record<Column, keyof CacheSums> = {
  calls: "calls",
  input: "input",
  cache_read: "cacheRead",
  cache_write: "cacheWrite",
  saved: "saved",
  breaks: "breaks",
  lost: "lost",
  lost_cost: "lostCost",
};

/** Who made calls to what, in numbers. */
interface Who {
  day: number;
  caller: number;
  client: number;
  target: number;
}

type SumRow = Who & Record<Column, number>;

interface ReasonRow extends Who {
  reason: number;
  section: string | null;
  breaks: number;
  cost: number;
}

type Query = Filter & { by: readonly CacheGroup[] };

export async function cacheReport(sql: Sql, directory: Directory, query: Query): Promise<CacheReport> {
  await directory.refresh();
  const { by } = query;
  const span = daysOf(query);
  const rows = await readSums(sql, directory, query, span);
  const clients = await directory.texts(by.includes("client") ? rows.map(({ client }) => client) : []);
  const total = emptySums();
  const groups = new Map<string, CacheRow>();
  const groupOf = (who: Who) => {
    const values = valuesOf(who, directory, clients);
    return Object.fromEntries(by.map((name) => [name, values[name]]));
  };
  for (const row of rows) {
    add(total, row);
    const group = groupOf(row);
    const key = JSON.stringify(Object.values(group));
    let sums = groups.get(key);
    if (!sums) groups.set(key, (sums = { group, ...emptySums() }));
    add(sums, row);
  }
  const reasons = new Map<string, ReasonRow[]>();
  for (const reason of await readReasons(sql, directory, query, span)) {
    const key = JSON.stringify(Object.values(groupOf(reason)));
    reasons.set(key, [...(reasons.get(key) ?? []), reason]);
  }
  const list = [...groups].map(([key, row]) => withCommonest(row, reasons.get(key)));
  const reasonsFrom = await oldestOf(sql, newestOf(directory, query, span));
  return { rows: by.length === 0 ? [] : list.sort(order(by)), total, ...span, ...reasonsFrom };
}

/** Whole days. */
function daysOf({ from, to }: Filter): { from?: number; to?: number } {
  return {
    ...(from !== undefined && { from: Math.floor(from / DAY_MS) * DAY_MS }),
    ...(to !== undefined && { to: Math.ceil(to / DAY_MS) * DAY_MS }),
  };
}

function readSums(
  sql: Sql,
  directory: Directory,
  filter: Query,
  { from, to }: { from?: number; to?: number },
) {
  const isByDay = filter.by.includes("day");
  const sums = CACHE_SUMS.map((column) => `sum(${column}) AS ${column}`).join(", ");
  return sql.all<SumRow>(
    `SELECT ${isByDay ? "day" : "0 AS day"}, caller, client, target, ${sums} FROM cache_day
     WHERE day >= $1 AND day < $2${selected(directory, filter)}
     GROUP BY caller, client, target${isByDay ? ", day" : ""}`,
    [from ?? 0, to ?? Number.MAX_SAFE_INTEGER],
  );
}

function readReasons(
  sql: Sql,
  directory: Directory,
  filter: Query,
  { from, to }: { from?: number; to?: number },
) {
  const day = filter.by.includes("day") ? `at - at % ${DAY_MS}` : "0";
  const newest = newestOf(directory, filter, { from, to });
  return sql.all<ReasonRow>(
    `SELECT ${day} AS day, caller, client, target, reason, section, count(*) AS breaks, sum(cost) AS cost
     FROM ${newest.rows}
     GROUP BY ${filter.by.includes("day") ? "1, " : ""}caller, client, target, reason, section`,
    newest.values,
  );
}

/** The newest rows of `cache_breaks` that a filter selects, as a table. */
interface Newest {
  rows: string;
  values: number[];
}

function newestOf(
  directory: Directory,
  filter: Filter,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { from?: number; to?: number },
): Newest {
  return {
    rows: `(SELECT * FROM cache_breaks WHERE number >= $1 AND at >= $2 AND at < $3${selected(directory, filter)}
      ORDER BY number DESC LIMIT ${MOST_BREAKS}) AS newest`,
    values: [firstNumber(from), from, to],
  };
}

/** @returns the time of the oldest of these rows, if there may be older ones */
async function oldestOf(sql: Sql, { rows, values }: Newest): Promise<{ reasonsFrom?: number }> {
  const [found] = await sql.all<{ breaks: number; oldest: number | null }>(
    `SELECT count(*) AS breaks, min(at) AS oldest FROM ${rows}`,
    values,
  );
  return found && found.breaks >= MOST_BREAKS ? { reasonsFrom: found.oldest ?? 0 } : {};
}

/** The condition of a filter, behind others. */
function selected(directory: Directory, filter: Filter): string {
  const callers = directory.callersOf(filter);
  const targets = directory.targetsOf(filter);
  return `${callers ? ` AND caller ${inList(callers)}` : ""}${targets ? ` AND target ${inList(targets)}` : ""}`;
}

function valuesOf(
  { day, caller, client, target }: Who,
  { callers, targets }: Directory,
  clients: ReadonlyMap<number, string>,
): Record<CacheGroup, string> {
  const who = callers.get(caller);
  const what = targets.get(target);
  return {
    key: who?.key ?? "",
    path: who?.path ?? "/",
    client: clients.get(client) ?? "",
    model: what?.model ?? "",
    provider: what?.provider ?? "",
    day: new Date(day).toISOString().slice(0, 10),
  };
}

function withCommonest<Row extends object>(row: Row, reasons: readonly ReasonRow[] = []) {
  const sums = new Map<string, Commonest>();
  for (const { reason: number, section, breaks, cost } of reasons) {
    const reason = BREAK_REASONS[number] ?? "provider";
    // Each call of a conversation has turns of its own: they are one reason.
    const part = section === null ? undefined : partOf(section);
    const key = `${reason} ${part}`;
    const sum = sums.get(key) ?? { reason, ...(part !== undefined && { section: part }), breaks: 0, cost: 0 };
    sums.set(key, { ...sum, breaks: sum.breaks + breaks, cost: sum.cost + cost });
  }
  const [commonest] = [...sums.values()].sort((a, b) => b.cost - a.cost || b.breaks - a.breaks);
  return commonest ? { ...row, commonest } : row;
}

/** Tools and turns without their index. */
function partOf(section: string): string {
  return section.startsWith("system[") ? section : section.replace(/\[\d+\]$/, "");
}

function add(sums: CacheSums, row: SumRow): void {
  for (const column of CACHE_SUMS) sums[MEMBERS[column]] += row[column];
}

function emptySums(): CacheSums {
  return Object.fromEntries(CACHE_SUMS.map((column) => [MEMBERS[column], 0])) as unknown as CacheSums;
}

function order(by: readonly CacheGroup[]): (a: CacheRow, b: CacheRow) => number {
  const byDay = (a: CacheRow, b: CacheRow) =>
    a.group.day === b.group.day ? 0 : a.group.day! < b.group.day! ? -1 : 1;
  return (a, b) =>
    (by.includes("day") ? byDay(a, b) : 0) || b.lostCost - a.lostCost || b.lost - a.lost || b.calls - a.calls;
}

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
