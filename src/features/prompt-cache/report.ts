/** The caches of providers: sums from the roll-ups by day, reasons from the calls that read too little. */
import type { CacheGroup } from "../../operator/cache.ts";
import { DAY_MS } from "../../keeper/record/roll-ups.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import { newestOf, oldestOf, type ReasonRow, selected, type Who, withCommonest } from "./reasons.ts";
import type { Directory } from "../../keeper/reports/directory.ts";
import type { CacheSums } from "../../operator/cache.ts";
import type { Filter } from "../../keeper/reports/shapes.ts";
import type { CacheReport, CacheRow } from "./shapes.ts";

/** The sums of calls whose prompts a provider caches. `lost`: tokens that were in a cache and were not read. */
export const CACHE_SUMS = [
  "calls",
  "input",
  "cache_read",
  "cache_write",
  "saved",
  "breaks",
  "lost",
  "lost_cost",
] as const;

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

type SumRow = Who & Record<Column, number>;

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
  const needed = neededFor(filter.by);
  const columns = WHO.map((column) => (needed.includes(column) ? column : `0 AS ${column}`));
  const sums = CACHE_SUMS.map((column) => `coalesce(sum(${column}), 0) AS ${column}`);
  return sql.all<SumRow>(
    `SELECT ${[...columns, ...sums].join(", ")} FROM cache_day
     WHERE day >= $1 AND day < $2${selected(directory, filter)}${groupedBy(needed)}`,
    [from ?? 0, to ?? Number.MAX_SAFE_INTEGER],
  );
}

function readReasons(
  sql: Sql,
  directory: Directory,
  filter: Query,
  { from, to }: { from?: number; to?: number },
) {
  const newest = newestOf(directory, filter, { from, to });
  const needed = neededFor(filter.by);
  const columns = WHO.map((column) => {
    if (!needed.includes(column)) return `0 AS ${column}`;
    return column === "day" ? `at - at % ${DAY_MS} AS day` : column;
  });
  const groups = needed.map((column) => (column === "day" ? `at - at % ${DAY_MS}` : column));
  return sql.all<ReasonRow>(
    `SELECT ${columns.join(", ")}, reason, section, count(*) AS breaks, sum(cost) AS cost
     FROM ${newest.rows}${groupedBy([...groups, "reason", "section"])}`,
    newest.values,
  );
}

const WHO = ["day", "caller", "client", "target"] as const;

/** The column that a group is read from. */
const COLUMN_OF: Record<CacheGroup, keyof Who> = {
  key: "caller",
  path: "caller",
  client: "client",
  model: "target",
  provider: "target",
  day: "day",
};

function neededFor(by: readonly CacheGroup[]): (keyof Who)[] {
  return WHO.filter((column) => by.some((group) => COLUMN_OF[group] === column));
}

function groupedBy(columns: readonly string[]): string {
  return columns.length === 0 ? "" : ` GROUP BY ${columns.join(", ")}`;
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
