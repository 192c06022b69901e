/** Sums of the calls that a search finds, and their slices over time. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { OUTCOMES } from "../record/call-rows.ts";
import { timeOf } from "../store/numbers.ts";
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";
import type { Sql } from "../store/sql.ts";
import {
  boundOf,
  type NumberRange,
  REJECTED,
  type Search,
  searchFor,
  UNCERTAIN_STATES,
  withBlobs,
} from "./call-search.ts";
import { type Directory, inList } from "./directory.ts";
import { lengthOf } from "./slices.ts";
import type { CallFilter, CallSlice, CallSummary, Filter } from "./shapes.ts";
import { usageReport } from "./usage.ts";

/** Most rows that one summary looks at. */
const SUMMED = 50_000;

const MINUTE_MS = 60_000;
interface SliceRow extends CallSlice {
  uncertain_calls: number;
  unpriced: number;
  retried: number;
}

/** Members that roll-ups can answer. Other filters need the rows of calls. */
const PLAIN: ReadonlySet<string> = new Set<keyof Filter>([
  ...(["within", "from", "to", "key", "path", "tag", "model", "provider"] as const),
]);

/** @param slices most slices of the answer @param now milliseconds since 1970 */
export async function summarize(
  sql: Sql,
  directory: Directory,
  { slices, ...filter }: CallFilter & { slices: number },
  now: number,
): Promise<CallSummary> {
  await directory.refresh();
  const search = await searchFor(sql, directory, filter);
  const to = filter.to ?? now;
  const from = filter.from ?? (await firstCall(sql));
  if (from === undefined) return emptySummary(to);
  const sliceMs = lengthOf(to - from, slices);
  const bound = await boundOf(sql, search, SUMMED);
  const isPlain = Object.entries(filter).every(([name, value]) => value === undefined || PLAIN.has(name));
  if (bound > 0 && isPlain) return fromSums(sql, directory, { ...filter, from, to }, sliceMs, now);
  const targets = directory.targetsOf(filter);
  // Of a call whose client asked for the model, attempts with other models count too.
  const asked = filter.model === undefined ? [] : await directory.asked(filter.model);
  const { provider, deployment } = filter;
  const places = directory.targetsOf({ provider, deployment });
  const anyModel = `scanned.model ${inList(asked)}${places ? ` AND charges.target ${inList(places)}` : ""}`;
  const ofTargets = targets && `(charges.target ${inList(targets)} OR (${anyModel}))`;
  const parts = search.ranges.flatMap((range) => search.scans.map((scan) => ({ range, scan })));
  const rows = await Promise.all(
    parts.map(({ range, scan }) => {
      const bounded = { ...range, from: Math.max(range.from, bound) };
      return readSlices(sql, search, bounded, scan, sliceMs, ofTargets);
    }),
  );
  return {
    ...added(rows.flat()),
    from,
    to,
    sliceMs,
    ...(bound > 0 && { completeFrom: timeOf(bound) }),
  };
}

function readSlices(
  sql: Sql,
  { conditions }: Search,
  { from, to, only = "1 = 1" }: NumberRange,
  scan: string,
  sliceMs: number,
  ofTargets: string | undefined,
): Promise<SliceRow[]> {
  const where = ["number >= $1 AND number < $2", only, scan, ...conditions].join(" AND ");
  const charges = `FROM charges WHERE charges.number = scanned.number${ofTargets ? ` AND ${ofTargets}` : ""}`;
  const sumOf = (more: string) => `(SELECT coalesce(sum(charges.cost), 0) ${charges}${more})`;
  const cost = ofTargets ? `CASE WHEN tries > 1 THEN ${sumOf("")} ELSE cost END` : "cost";
  const isUncertain = `state ${UNCERTAIN_STATES}`;
  const uncertain = `CASE WHEN tries > 1 THEN ${sumOf(` AND charges.${isUncertain}`)} WHEN ${isUncertain} THEN cost ELSE 0 END`;
  const text = `SELECT at - at % ${sliceMs} AS slice, count(*) AS calls,
    sum(CASE WHEN outcome = ${OUTCOMES.indexOf("failed")} THEN 1 ELSE 0 END) AS failed,
    sum(CASE WHEN ${REJECTED} THEN 1 ELSE 0 END) AS rejected,
    sum(${cost}) AS cost, sum(${uncertain}) AS uncertain,
    sum(CASE WHEN ${isUncertain} THEN 1 ELSE 0 END) AS uncertain_calls,
    sum(CASE WHEN state = ${CHARGE_STATES.indexOf("unpriced")} THEN 1 ELSE 0 END) AS unpriced,
    sum(CASE WHEN tries > 1 THEN 1 ELSE 0 END) AS retried
    FROM calls AS scanned WHERE ${where} GROUP BY 1`;
  return sql
    .all<SliceRow & { slice: number }>(withBlobs(sql.dialect, text), [from, to])
    .then((rows) => rows.map(({ slice, ...sums }) => ({ ...sums, at: slice })));
}

/** Longer times are read from the sums by day. */
const HOURS_MS = 7 * DAY_MS;

/** From the sums by hour or day: times are extended to whole ones. */
async function fromSums(
  sql: Sql,
  directory: Directory,
  filter: Filter & { from: number; to: number },
  wantedMs: number,
  now: number,
): Promise<CallSummary> {
  const unit = filter.to - filter.from > HOURS_MS ? "day" : "hour";
  const sliceMs = Math.max(wantedMs, unit === "day" ? DAY_MS : HOUR_MS);
  const report = await usageReport(sql, directory, { ...filter, by: [unit] }, now);
  const rows = report.rows.map(({ group, calls, failed, refused, cost, estimated, assumed, unpriced }) => ({
    at: Math.floor(Date.parse(group.day ?? `${group.hour}:00Z`) / sliceMs) * sliceMs,
    ...{ calls, failed, cost, unpriced, rejected: refused },
    uncertain: estimated + assumed,
    uncertain_calls: 0,
    retried: 0,
  }));
  const { uncertainCalls: _, retried: __, ...sums } = added(rows);
  return {
    ...sums,
    from: report.from ?? filter.from,
    to: report.to ?? filter.to,
    sliceMs,
    ...(report.completeFrom !== undefined && { completeFrom: report.completeFrom }),
  };
}

function added(rows: readonly SliceRow[]) {
  const none = { calls: 0, failed: 0, rejected: 0, cost: 0, uncertain: 0 };
  const total = { ...none, uncertainCalls: 0, unpriced: 0, retried: 0 };
  const slices = new Map<number, CallSlice>();
  for (const { at, calls, failed, rejected, cost, uncertain, ...more } of rows) {
    const slice = slices.get(at) ?? { at, ...none };
    slices.set(at, slice);
    for (const sums of [slice, total]) {
      sums.calls += calls;
      sums.failed += failed;
      sums.rejected += rejected;
      sums.cost += cost;
      sums.uncertain += uncertain;
    }
    total.uncertainCalls += more.uncertain_calls;
    total.unpriced += more.unpriced;
    total.retried += more.retried;
  }
  return { ...total, slices: [...slices.values()].sort((a, b) => a.at - b.at) };
}

function emptySummary(to: number): CallSummary {
  return { ...added([]), to, sliceMs: MINUTE_MS };
}

async function firstCall(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.all<{ at: number }>("SELECT at FROM calls ORDER BY number LIMIT 1");
  return row?.at;
}
