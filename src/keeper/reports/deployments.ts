/** How deployments served the newest calls of a time. The database adds up and sorts: few rows leave it. */
import type { Nano } from "../../ledger/money.ts";
import { OUTCOMES } from "../record/call-rows.ts";
import { firstNumber, timeOf } from "../store/numbers.ts";
import { LATE_MS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";
import { type DeploymentError, failuresOf, type LastError, type Newest } from "./deployment-errors.ts";
import { type Directory, inList } from "./directory.ts";
import { lengthOf } from "./slices.ts";
import type { Filter } from "./shapes.ts";
import { LAST_FAILED } from "./tried.ts";

/** Most calls that are looked at. */
const NEWEST = 20_000;

export interface DeploymentQuery {
  within: string;
  from: number;
  to: number;
  /** Most slices of the series. */
  slices: number;
}

export interface Latency {
  /** Answered calls with one attempt. */
  calls: number;
  p50?: number;
  p95?: number;
  total50?: number;
  total95?: number;
}

export interface DeploymentUse {
  provider: string;
  deployment: string;
  /** Attempts. */
  calls: number;
  /** Those of the newest calls, which have the percentiles, the errors and the series. */
  looked: number;
  /** Those of `looked` that failed by no fault of the client. */
  failed: number;
  cost: Nano;
  tokens: number;
  latency: Latency;
  /** The most frequent first. */
  errors: readonly DeploymentError[];
  lastError?: LastError;
  series: readonly { at: number; calls: number; failed: number; p95?: number }[];
}

export interface DeploymentReport {
  sliceMs: number;
  /** Earlier calls of the time were not looked at. */
  searchedTo?: number;
  deployments: readonly DeploymentUse[];
}

const ANSWERED = OUTCOMES.indexOf("complete");

type Sums = Pick<DeploymentUse, "calls" | "cost" | "tokens">;

export async function deploymentReport(
  sql: Sql,
  directory: Directory,
  query: DeploymentQuery,
): Promise<DeploymentReport> {
  await directory.refresh();
  const { from, to, slices } = query;
  const sliceMs = lengthOf(to - from, slices);
  const names = namesOf(directory);
  const newest = await newestOf(sql, directory, query, names);
  const [looked, latencies, { errors, last }, series] = await Promise.all([
    sumsOf(sql, newest),
    percentiles(sql, newest),
    failuresOf(sql, newest),
    seriesOf(sql, newest, sliceMs),
  ]);
  const sums = newest.isBounded ? await rolledUp(sql, directory, query, names) : looked;
  return {
    sliceMs,
    ...(newest.isBounded && { searchedTo: timeOf(newest.from) }),
    deployments: [...names.byName.values()].flatMap(({ id, provider, deployment }) => {
      const sum = sums.get(id);
      if (!sum) return [];
      const lastError = last.get(id);
      const failures = errors.get(id) ?? [];
      return {
        ...{ provider, deployment, ...sum, looked: looked.get(id)?.calls ?? 0 },
        failed: failures.reduce((all, { group, calls }) => all + (group === "request" ? 0 : calls), 0),
        latency: latencies.get(id) ?? { calls: 0 },
        errors: failures,
        ...(lastError && { lastError }),
        series: series.get(id) ?? [],
      };
    }),
  };
}

/** Deployments by a number: targets of one deployment differ in their models. */
interface DeploymentNames {
  byName: ReadonlyMap<string, { id: number; provider: string; deployment: string; targets: number[] }>;
  /** The number of the deployment of a target, as SQL. */
  of(column: string): string;
}

function namesOf({ targets }: Directory): DeploymentNames {
  const byName = new Map<string, { id: number; provider: string; deployment: string; targets: number[] }>();
  for (const [target, { provider, deployment }] of targets) {
    const known = byName.get(deployment);
    if (known) known.targets.push(target);
    else byName.set(deployment, { id: byName.size, provider, deployment, targets: [target] });
  }
  const cases = [...byName.values()].map(({ id, targets: ids }) => `WHEN %target ${inList(ids)} THEN ${id}`);
  const text = cases.length === 0 ? "-1" : `CASE ${cases.join(" ")} ELSE -1 END`;
  return { byName, of: (column) => text.replaceAll("%target", column) };
}

async function newestOf(
  sql: Sql,
  directory: Directory,
  { within, from, to }: DeploymentQuery,
  names: DeploymentNames,
): Promise<Newest> {
  const callers = directory.callersOf({ within });
  const end = firstNumber(to + LATE_MS + 1);
  const own = callers ? ` AND caller ${inList(callers)}` : "";
  const where = `number < ${end} AND number >= %from AND at >= ${from} AND at < ${to}${own}`;
  const first = firstNumber(from);
  const [last] = await sql.all<{ number: number }>(
    `SELECT number FROM calls WHERE ${where.replace("%from", String(first))} ORDER BY number DESC LIMIT 1 OFFSET ${NEWEST}`,
  );
  const begins = last ? last.number + 1 : first;
  return {
    table: `(SELECT *, ${names.of("target")} AS deployment FROM calls WHERE ${where.replace("%from", String(begins))}) AS newest`,
    ...{ from: begins, end, isBounded: last !== undefined },
    deployment: (column) => names.of(column),
  };
}

const TOKENS = "input + cache_read + cache_write + output";

/** Of a call with several attempts each deployment has its own charges; the tokens are those of the last one. */
async function sumsOf(sql: Sql, { table, deployment }: Newest): Promise<Map<number, Sums>> {
  const rows = await sql.all<Sums & { deployment: number }>(
    `SELECT deployment, count(*) AS calls, sum(CASE WHEN tries > 1 THEN 0 ELSE cost END) AS cost, sum(${TOKENS}) AS tokens
     FROM ${table} WHERE target IS NOT NULL GROUP BY deployment`,
  );
  const sums = new Map(rows.map(({ deployment: id, ...sum }) => [id, sum]));
  const several = await sql.all<{ deployment: number; calls: number; cost: number }>(
    `SELECT ${deployment("charges.target")} AS deployment, sum(CASE WHEN charges.n < newest.tries THEN 1 ELSE 0 END) AS calls,
       sum(charges.cost) AS cost
     FROM ${table} JOIN charges ON charges.number = newest.number WHERE newest.tries > 1 GROUP BY 1`,
  );
  for (const { deployment: id, calls, cost } of several) {
    const sum = sums.get(id) ?? { calls: 0, cost: 0, tokens: 0 };
    sums.set(id, { ...sum, calls: sum.calls + calls, cost: sum.cost + cost });
  }
  return sums;
}

/** From the sums by hour or day, which begin earlier and end later. */
async function rolledUp(
  sql: Sql,
  directory: Directory,
  { within, from, to }: DeploymentQuery,
  names: DeploymentNames,
): Promise<Map<number, Sums>> {
  const unit = to - from <= WEEK_MS ? "hour" : "day";
  const size = unit === "hour" ? HOUR_MS : HOUR_MS * 24;
  const callers = directory.callersOf({ within } satisfies Filter);
  const own = callers ? ` AND caller ${inList(callers)}` : "";
  const rows = await sql.all<Sums & { deployment: number }>(
    `SELECT ${names.of("target")} AS deployment, sum(attempts) AS calls, sum(cost) AS cost, sum(${TOKENS}) AS tokens
     FROM use_${unit} WHERE ${unit} >= $1 AND ${unit} < $2${own} GROUP BY 1`,
    [Math.floor(from / size) * size, Math.ceil(to / size) * size],
  );
  return new Map(rows.map(({ deployment: id, ...sum }) => [id, sum]));
}

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

async function percentiles(sql: Sql, { table }: Newest): Promise<Map<number, Latency>> {
  const ranked = (column: string) =>
    `SELECT deployment, ${column} AS value, row_number() OVER (PARTITION BY deployment ORDER BY ${column}) AS place,
       count(*) OVER (PARTITION BY deployment) AS calls
     FROM ${table} WHERE outcome = ${ANSWERED} AND tries = 1 AND ${column} IS NOT NULL`;
  const wanted = (share: number) => `(calls * ${share * 100} + 99) / 100`;
  const read = (column: string) =>
    sql.all<{ deployment: number; calls: number; p50: number; p95: number }>(
      `SELECT deployment, max(calls) AS calls, max(CASE WHEN place = ${wanted(0.5)} THEN value END) AS p50,
         max(CASE WHEN place = ${wanted(0.95)} THEN value END) AS p95
       FROM (${ranked(column)}) AS ranked GROUP BY deployment`,
    );
  const [first, whole] = [await read("first_ms"), await read("ms")];
  const latencies = new Map<number, Latency>();
  for (const { deployment, calls, p50, p95 } of whole)
    latencies.set(deployment, { calls, total50: p50, total95: p95 });
  for (const { deployment, p50, p95 } of first)
    latencies.set(deployment, { ...latencies.get(deployment)!, p50, p95 });
  return latencies;
}

type Slice = DeploymentUse["series"][number];

async function seriesOf(sql: Sql, { table }: Newest, sliceMs: number): Promise<Map<number, Slice[]>> {
  const rows = await sql.all<{
    deployment: number;
    slice: number;
    calls: number;
    failed: number;
    p95: number | null;
  }>(
    `SELECT deployment, slice, count(*) AS calls, sum(lost) AS failed,
       max(CASE WHEN place = (timed * 95 + 99) / 100 THEN first_ms END) AS p95
     FROM (SELECT deployment, CASE WHEN ${LAST_FAILED} THEN 1 ELSE 0 END AS lost, first_ms, at - at % ${sliceMs} AS slice,
             row_number() OVER (PARTITION BY deployment, at - at % ${sliceMs} ORDER BY CASE WHEN first_ms IS NULL THEN 1 ELSE 0 END, first_ms) AS place,
             count(first_ms) OVER (PARTITION BY deployment, at - at % ${sliceMs}) AS timed
           FROM ${table} WHERE target IS NOT NULL) AS ranked
     GROUP BY deployment, slice ORDER BY slice`,
  );
  const series = new Map<number, Slice[]>();
  for (const { deployment, slice, calls, failed, p95 } of rows)
    series.set(deployment, [
      ...(series.get(deployment) ?? []),
      { at: slice, calls, failed, ...(p95 !== null && { p95 }) },
    ]);
  return series;
}
