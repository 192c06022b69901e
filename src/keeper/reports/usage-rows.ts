/** Sums of calls from their rows: by what the roll-ups do not tell apart. Only the newest rows are looked at. */
import type { Usage } from "../../core/events.ts";
import { CHARGE_STATES, PRICE_DOUBTS } from "../../ledger/charge.ts";
import { DOUBT, OUTCOMES, unpackHash } from "../record/call-rows.ts";
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";
import { SUMS } from "../store/schema.ts";
import { timeOf } from "../store/numbers.ts";
import type { Sql } from "../store/sql.ts";
import { boundOf, searchFor, type Search, stateCondition, withBlobs } from "./call-search.ts";
import { type Directory, inList } from "./directory.ts";
import type { UsageGroup } from "../../operator/reports.ts";
import type { UsageFilter } from "./shapes.ts";

/** Most rows that one report looks at, the newest. */
export const COUNTED = 150_000;

const FIVE_MINUTES_MS = 300_000;

/** Sums of the calls of one caller, target, client, session, state and time, as far as the report tells them apart. */
export interface CallSums extends Record<(typeof SUMS)[number], number> {
  start: number;
  caller: number;
  target: number;
  client: number | null;
  session: Uint8Array | null;
  state: number | null;
}

export interface CallUsage {
  rows: readonly CallSums[];
  /** Earlier calls were not looked at. */
  searchedTo?: number;
}

type Wanted = UsageFilter & { by: readonly UsageGroup[] };

/** @param most rows that may leave the database */
export async function sumsOfCalls(
  sql: Sql,
  directory: Directory,
  filter: Wanted,
  most: number,
): Promise<CallUsage> {
  const { by, model, provider, state, exact: _, ...rest } = filter;
  const search = await searchFor(sql, directory, rest);
  const bound = await boundOf(sql, search, COUNTED);
  const targets = directory.targetsOf({ model, provider });
  const found: Found = { search, bound, targets, state };
  const [single, several] = [await singles(sql, found, by, most), await attempts(sql, found, by, most)];
  return { rows: [...single, ...several], ...(bound > 0 && { searchedTo: timeOf(bound) }) };
}

interface Found {
  search: Search;
  bound: number;
  targets: readonly number[] | undefined;
  state: UsageFilter["state"];
}

/** What tells rows apart, as SQL; constants where the report does not ask for it. */
function keysOf(
  by: readonly UsageGroup[],
  of: "scanned" | "charges",
): readonly (readonly [string, string])[] {
  const has = (...groups: readonly UsageGroup[]) => groups.some((group) => by.includes(group));
  const size = has("5min") ? FIVE_MINUTES_MS : has("hour") ? HOUR_MS : has("day") ? DAY_MS : undefined;
  return [
    ["start", size === undefined ? "0" : `scanned.at - scanned.at % ${size}`],
    ["caller", has("key", "path", "tag") ? "scanned.caller" : "0"],
    ["target", has("model", "provider") ? `coalesce(${of}.target, 0)` : "0"],
    ["client", has("client") ? "scanned.client" : "NULL"],
    ["session", has("session") ? "scanned.session" : "NULL"],
    ["state", has("state") ? `${of}.state` : "NULL"],
  ];
}

const stateOf = (name: (typeof CHARGE_STATES)[number]) => CHARGE_STATES.indexOf(name);
const one = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
const costIf = (condition: string) => `CASE WHEN ${condition} THEN scanned.cost ELSE 0 END`;

/** What a row of a call with at most one attempt adds to each sum. */
const SINGLE: Readonly<Record<(typeof SUMS)[number], string>> = {
  calls: "1",
  failed: one(`scanned.outcome = ${OUTCOMES.indexOf("failed")}`),
  refused: one("scanned.refused > 0"),
  attempts: "scanned.tries",
  ...{ input: "scanned.input", cache_read: "scanned.cache_read", cache_write: "scanned.cache_write" },
  ...{ cache_write_1h: "scanned.cache_write_1h", output: "scanned.output", reasoning: "scanned.reasoning" },
  searches: "0",
  cost: "scanned.cost",
  reported: costIf(`scanned.state = ${stateOf("reported")}`),
  estimated: costIf(`scanned.state = ${stateOf("estimated")}`),
  assumed: costIf(`scanned.state = ${stateOf("assumed")}`),
  untiered: costIf(`scanned.flags / ${DOUBT} = ${PRICE_DOUBTS.indexOf("tier") + 1}`),
  unpriced: one(`scanned.state = ${stateOf("unpriced")}`),
  ms: "scanned.ms",
  first_ms: "coalesce(scanned.first_ms, 0)",
};

async function singles(sql: Sql, found: Found, by: readonly UsageGroup[], most: number): Promise<CallSums[]> {
  const keys = keysOf(by, "scanned");
  const select = keys.map(([name, text]) => `${text} AS ${name}`).join(", ");
  const groups = keys.flatMap(([, text], at) => (text === "0" || text === "NULL" ? [] : String(at + 1)));
  const end = groups.length > 0 ? `GROUP BY ${groups.join(", ")}` : "HAVING count(*) > 0";
  const sums = SUMS.map((name) => `sum(${SINGLE[name]}) AS ${name}`).join(", ");
  const one = wanted(found, "scanned");
  const rows = await read<CallSums>(
    sql,
    found,
    (where) =>
      `SELECT ${select}, ${sums} FROM calls AS scanned WHERE ${where} AND scanned.tries < 2${one} ${end} LIMIT ${most + 1}`,
  );
  // Searches are in the detail of few rows.
  const searched = await read<CallSums & { detail: string }>(
    sql,
    found,
    (where) =>
      `SELECT ${select}, scanned.detail AS detail FROM calls AS scanned WHERE ${where} AND scanned.tries = 1 AND coalesce(scanned.detail, '') LIKE '%"searches":%'${one}`,
  );
  return [...rows, ...searched.map((row) => ({ ...row, ...NONE, searches: searchesIn(row.detail) }))];
}

const NONE = Object.fromEntries(SUMS.map((name) => [name, 0])) as Record<(typeof SUMS)[number], number>;

function searchesIn(detail: string): number {
  return (JSON.parse(detail) as { usage?: Partial<Usage> }).usage?.searches ?? 0;
}

interface AttemptRow extends Omit<CallSums, (typeof SUMS)[number]> {
  n: number;
  tries: number;
  outcome: number;
  refused: number;
  ms: number;
  first_ms: number | null;
  usage: string;
  cost: number;
  charged: number;
  doubt: string | null;
}

/** Each attempt of calls with several; the call itself is counted with its last one. */
async function attempts(
  sql: Sql,
  found: Found,
  by: readonly UsageGroup[],
  most: number,
): Promise<CallSums[]> {
  const select = keysOf(by, "charges")
    .map(([name, text]) => `${text} AS ${name}`)
    .join(", ");
  const rows = await read<AttemptRow>(
    sql,
    found,
    (
      where,
    ) => `SELECT ${select}, charges.n AS n, scanned.tries AS tries, scanned.outcome AS outcome, scanned.refused AS refused,
      scanned.ms AS ms, scanned.first_ms AS first_ms, charges.usage AS usage, charges.cost AS cost, charges.state AS charged, charges.doubt AS doubt
    FROM (SELECT * FROM calls AS scanned WHERE ${where} AND scanned.tries > 1) AS scanned
    JOIN charges ON charges.number = scanned.number WHERE 1 = 1${wanted(found, "charges")} LIMIT ${most + 1}`,
  );
  return rows.map(sumsOfAttempt);
}

function sumsOfAttempt({
  n,
  tries,
  outcome,
  refused,
  ms,
  first_ms,
  usage,
  cost,
  charged,
  doubt,
  ...keys
}: AttemptRow): CallSums {
  const counts = JSON.parse(usage) as Partial<Usage>;
  const is = (name: (typeof CHARGE_STATES)[number]) => charged === stateOf(name);
  const last = n === tries ? 1 : 0;
  return {
    ...keys,
    calls: last,
    failed: last && outcome === OUTCOMES.indexOf("failed") ? 1 : 0,
    refused: last && refused > 0 ? 1 : 0,
    attempts: 1,
    input: counts.input ?? 0,
    cache_read: counts.cacheRead ?? 0,
    cache_write: counts.cacheWrite ?? 0,
    cache_write_1h: counts.cacheWrite1h ?? 0,
    output: counts.output ?? 0,
    reasoning: counts.reasoning ?? 0,
    searches: counts.searches ?? 0,
    cost,
    reported: is("reported") ? cost : 0,
    estimated: is("estimated") ? cost : 0,
    assumed: is("assumed") ? cost : 0,
    untiered: doubt === "tier" ? cost : 0,
    unpriced: is("unpriced") ? 1 : 0,
    ms: last * ms,
    first_ms: last * (first_ms ?? 0),
  };
}

/** Conditions on an attempt, with the word before them. */
function wanted({ targets, state }: Found, of: "scanned" | "charges"): string {
  return [
    ...(targets ? [` AND ${of}.target ${inList(targets)}`] : []),
    ...(state === undefined ? [] : [` AND ${of}.${stateCondition(state)}`]),
  ].join("");
}

/** Reads every part of the search. @param text of a statement with the conditions of a part */
async function read<Row>(
  sql: Sql,
  { search, bound }: Found,
  text: (where: string) => string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { from, to, only = "1 = 1" } of search.ranges)
    for (const scan of search.scans) {
      const where = ["scanned.number >= $1 AND scanned.number < $2", only, scan, ...search.conditions].join(
        " AND ",
      );
      rows.push(...(await sql.all<Row>(withBlobs(sql.dialect, text(where)), [Math.max(from, bound), to])));
    }
  return rows;
}

/** The name of a state of charges, as reports group them; empty for a call without an attempt. */
export function certaintyOf(state: number | null): string {
  const name = state === null ? undefined : CHARGE_STATES[state];
  if (name === undefined) return "";
  return name === "metered" || name === "reported" || name === "free" ? "certain" : name;
}

/** `claude-cli/` of `claude-cli/2.0.1 (external)`: as a filter it finds all its versions. */
export function familyOf(client: string): string {
  const end = client.indexOf("/");
  return end > 0 ? client.slice(0, end + 1) : client;
}

export function sessionOf(session: Uint8Array | null): string {
  return session === null ? "" : unpackHash(session);
}
