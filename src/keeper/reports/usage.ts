/** Sums of calls, from the roll-ups. The rows of calls are never read: there are too many. */
import type { UsageGroup } from "../../operator/reports.ts";
import { AdminError } from "../../operator/errors.ts";
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";
import { SUMS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";
import { type Directory, inList } from "./directory.ts";
import type { Filter, UsageFilter, UsageReport, UsageRow, UsageSums } from "./shapes.ts";
import { type CallSums, certaintyOf, familyOf, sessionOf, sumsOfCalls } from "./usage-rows.ts";

type Column = (typeof SUMS)[number];

/** Members of the sums by column. */
const MEMBERS: Record<Column, keyof UsageSums> = {
  calls: "calls",
  failed: "failed",
  refused: "refused",
  attempts: "attempts",
  input: "input",
  cache_read: "cacheRead",
  cache_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
  output: "output",
  reasoning: "reasoning",
  searches: "searches",
  cost: "cost",
  reported: "reported",
  estimated: "estimated",
  assumed: "assumed",
  untiered: "untiered",
  unpriced: "unpriced",
  ms: "ms",
  first_ms: "firstMs",
};

/** Longer reports without hours read days. */
const HOURS_MS = 7 * DAY_MS;

type SumRow = Record<Column, number> &
  Pick<CallSums, "start" | "caller" | "target"> &
  Partial<Pick<CallSums, "client" | "session" | "state">>;

type Wanted = UsageFilter & { by: readonly UsageGroup[] };

export async function usageReport(
  sql: Sql,
  directory: Directory,
  filter: UsageFilter & { by: readonly UsageGroup[] },
  now: number,
): Promise<UsageReport> {
  await directory.refresh();
  const { span, read } = needsCalls(filter)
    ? await readCalls(sql, directory, filter)
    : await readSums(sql, directory, filter, now);
  const clients = await directory.texts(read.flatMap(({ client = null }) => client ?? []));
  const groups = new Map<string, UsageRow>();
  const total = emptySums();
  for (const row of read) {
    add(total, row);
    for (const group of groupsOf(row, filter.by, directory, clients)) {
      const key = JSON.stringify(Object.values(group));
      let sums = groups.get(key);
      if (!sums) groups.set(key, (sums = { group, ...emptySums() }));
      add(sums, row);
    }
  }
  const { from, to, completeFrom, searchedTo } = span;
  const rows = filter.by.length === 0 ? [] : [...groups.values()].sort(order(filter.by));
  return {
    rows,
    total,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(completeFrom !== undefined && { completeFrom }),
    ...(searchedTo !== undefined && { searchedTo }),
  };
}

/** Of what the sums are. */
interface Times {
  from?: number;
  to?: number;
  completeFrom?: number;
  searchedTo?: number;
}

interface Read {
  span: Times;
  read: readonly SumRow[];
}

/** Whether the roll-ups do not tell apart what a report asks for. */
function needsCalls({ by, client, session, state, exact = false }: Wanted): boolean {
  return exact || [client, session, state].some((value) => value !== undefined) || by.some(isOfCalls);
}

const isOfCalls = (group: UsageGroup) => ["client", "session", "state", "5min"].includes(group);

async function readCalls(sql: Sql, directory: Directory, filter: Wanted): Promise<Read> {
  const { from, to } = filter;
  const { rows, searchedTo } = await sumsOfCalls(sql, directory, filter, MOST_ROWS);
  expectFew(rows);
  const [kept] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'calls_from'");
  const span = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(kept && kept.value > (from ?? 0) && { completeFrom: kept.value }),
    ...(searchedTo !== undefined && { searchedTo }),
  };
  return { span, read: rows };
}

async function readSums(sql: Sql, directory: Directory, filter: Wanted, now: number): Promise<Read> {
  const span = await spanOf(sql, filter, now);
  return { span, read: await readRows(sql, directory, filter, span) };
}

interface Span extends Times {
  unit: "hour" | "day";
}

/** Which roll-up a report reads. Its times are extended to whole hours or days. */
async function spanOf(
  sql: Sql,
  { from, to, by }: Filter & { by: readonly UsageGroup[] },
  now: number,
): Promise<Span> {
  const isShort = from !== undefined && (to ?? now) - from <= HOURS_MS;
  const unit = by.includes("hour") || isShort ? "hour" : "day";
  const size = unit === "hour" ? HOUR_MS : DAY_MS;
  const span: Span = {
    unit,
    ...(from !== undefined && { from: Math.floor(from / size) * size }),
    ...(to !== undefined && { to: Math.ceil(to / size) * size }),
  };
  if (unit === "day") return span;
  const [kept] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'hours_from'");
  return kept && kept.value > (span.from ?? 0) ? { ...span, completeFrom: kept.value } : span;
}

/** Most rows of sums that leave the database for a report. */
const MOST_ROWS = 100_000;

/** @throws AdminError 400 for a report of too many rows */
async function readRows(
  sql: Sql,
  directory: Directory,
  filter: Filter & { by: readonly UsageGroup[] },
  { unit, from, to }: Span,
): Promise<SumRow[]> {
  const callers = directory.callersOf(filter);
  const targets = directory.targetsOf(filter);
  const where = [
    `${unit} >= $1 AND ${unit} < $2`,
    ...(callers ? [`caller ${inList(callers)}`] : []),
    ...(targets ? [`target ${inList(targets)}`] : []),
  ];
  // Rows that no group tells apart are added up by the database: an hour may have a row for each key and model.
  const kept = (column: string, ...groups: readonly UsageGroup[]) =>
    groups.some((group) => filter.by.includes(group)) ? column : "0";
  const start = kept(unit, "hour", "day");
  const caller = kept("caller", "key", "path", "tag");
  const target = kept("target", "model", "provider");
  const sums = SUMS.map((column) => `sum(${column}) AS ${column}`).join(", ");
  // In the order of the primary key, and without constants, which would make the database sort.
  const groups = [start, caller, target].filter((column) => column !== "0");
  const rows = await sql.all<SumRow>(
    `SELECT ${start} AS start, ${caller} AS caller, ${target} AS target, ${sums} FROM use_${unit}
     WHERE ${where.join(" AND ")} ${groups.length > 0 ? `GROUP BY ${groups.join(", ")}` : "HAVING count(*) > 0"} LIMIT ${MOST_ROWS + 1}`,
    [from ?? 0, to ?? Number.MAX_SAFE_INTEGER],
  );
  expectFew(rows);
  return rows;
}

/** @throws AdminError 400 */
function expectFew(rows: readonly unknown[]): void {
  if (rows.length <= MOST_ROWS) return;
  const message =
    "The report would be too long: ask for a shorter time, fewer groups, or days instead of hours.";
  throw new AdminError(400, "too_many_rows", message, { path: "?by" });
}

/** The groups that a row belongs to: several for a caller with several tags. */
function groupsOf(
  { start, caller, target, client = null, session = null, state = null }: SumRow,
  by: readonly UsageGroup[],
  { callers, targets }: Directory,
  clients: ReadonlyMap<number, string>,
): Partial<Record<UsageGroup, string>>[] {
  const who = callers.get(caller);
  const what = targets.get(target);
  const values: Record<UsageGroup, string> = {
    key: who?.key ?? "",
    path: who?.path ?? "/",
    tag: "",
    model: what?.model ?? "",
    provider: what?.provider ?? "",
    day: new Date(start).toISOString().slice(0, 10),
    hour: new Date(start).toISOString().slice(0, 13),
    "5min": new Date(start).toISOString().slice(0, 16),
    client: client === null ? "" : familyOf(clients.get(client) ?? ""),
    session: sessionOf(session),
    state: certaintyOf(state),
  };
  const tags = by.includes("tag") && who && who.tags.length > 0 ? who.tags : [""];
  return tags.map((tag) => Object.fromEntries(by.map((name) => [name, name === "tag" ? tag : values[name]])));
}

function add(sums: UsageSums, row: SumRow): void {
  for (const column of SUMS) sums[MEMBERS[column]] += row[column];
}

export function emptySums(): UsageSums {
  return Object.fromEntries(SUMS.map((column) => [MEMBERS[column], 0])) as unknown as UsageSums;
}

/** By time where a group is one, else the dearest first. */
function order(by: readonly UsageGroup[]): (a: UsageRow, b: UsageRow) => number {
  const time = by.find((name) => name === "day" || name === "hour" || name === "5min");
  const byTime = (a: UsageRow, b: UsageRow) => (time ? (a.group[time]! < b.group[time]! ? -1 : 1) : 0);
  return (a, b) =>
    (time && a.group[time] !== b.group[time] ? byTime(a, b) : 0) || b.cost - a.cost || b.calls - a.calls;
}

/** Targets that were used without a price, the most used first. */
export async function missingPrices(
  sql: Sql,
  directory: Directory,
): Promise<{ provider: string; model: string; calls: number }[]> {
  await directory.refresh();
  const rows = await sql.all<{ target: number; calls: number }>(
    "SELECT target, sum(unpriced) AS calls FROM use_day WHERE unpriced > 0 GROUP BY target",
  );
  const byModel = new Map<string, { provider: string; model: string; calls: number }>();
  for (const { target, calls } of rows) {
    const { provider = "", model = "" } = directory.targets.get(target) ?? {};
    const known = byModel.get(`${provider}/${model}`) ?? { provider, model, calls: 0 };
    byModel.set(`${provider}/${model}`, { ...known, calls: known.calls + calls });
  }
  return [...byModel.values()].sort((a, b) => b.calls - a.calls);
}
