/** Which rows of `calls` a filter selects: ranges of numbers that are read, newest first, and conditions on the rows. */
import { triedCondition } from "./tried.ts";
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { OUTCOMES, REFUSALS } from "../record/call-rows.ts";
import { BARE, isBare } from "../record/detail.ts";
import { firstNumber } from "../store/numbers.ts";
import { LATE, LATE_MS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";
import { type Directory, inList } from "./directory.ts";
import type { CallFilter } from "./shapes.ts";
import { beyondCondition, idCondition, idsFrom, sessionHashes, statusCondition, TOKENS } from "./wanted.ts";

/** Numbers from `from` (inclusive) to `to` (exclusive). */
export interface NumberRange {
  from: number;
  to: number;
  /** A condition that an index of few rows serves. */
  only?: string;
}

export interface Search {
  /** The newest first. Rows of different ranges are different. */
  ranges: readonly NumberRange[];
  /** Conditions of which an index serves one; the rows of each are looked at. */
  scans: readonly string[];
  /** Conditions that each row is checked for. */
  conditions: readonly string[];
}

const UNCERTAIN = ["estimated", "assumed"] as const;
/** Calls that weir answered with an error before it asked a provider. */
export const REJECTED = `(outcome = ${OUTCOMES.indexOf("failed")} AND tries = 0 AND status < 500)`;
/** The states of charges that are uncertain, as a condition on a column. */
export const UNCERTAIN_STATES = inList(UNCERTAIN.map((state) => CHARGE_STATES.indexOf(state)));
const CERTAIN = ["metered", "reported", "free"] as const;
const CERTAIN_STATES = inList(CERTAIN.map((state) => CHARGE_STATES.indexOf(state)));
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** @param directory refreshed */
export async function searchFor(sql: Sql, directory: Directory, filter: CallFilter): Promise<Search> {
  const { session, text } = filter;
  const found = await sessionsOf(sql, directory, session ?? text?.text);
  // A text that is the id of a session finds its calls, which an index has.
  const isSession = session !== undefined || found.length > 0;
  const within = isSession ? narrowed(filter, found) : timesOf(filter);
  const callers = callersOf(directory, filter, isSession ? found.map(({ caller }) => caller) : undefined);
  // The index finds the calls of one caller in order. A key has few callers, a path may have many.
  const isIndexed = callers !== undefined && (filter.key !== undefined || isSession);
  const conditions = await conditionsOf(directory, within, found);
  if (!isIndexed && callers) conditions.push(`caller ${inList(callers)}`);
  const failed = filter.failed || (filter.outcome !== undefined && filter.outcome !== "complete");
  const also = failed ? " AND outcome <> 0" : "";
  return {
    ranges: rangesOf(within),
    scans: isIndexed ? callers.map((caller) => `caller = ${caller}${also}`) : [`1 = 1${also}`],
    conditions: conditions.length > 0 ? conditions : ["1 = 1"],
  };
}

/** Calls that were committed soon lie near the time of their beginning; the others are found by an index. */
function rangesOf({ from, to }: Pick<CallFilter, "from" | "to">): NumberRange[] {
  const first = from === undefined ? 0 : firstNumber(from);
  if (to === undefined) return [{ from: first, to: EVERYTHING }];
  // One more: the milliseconds of numbers are rounded down.
  const end = firstNumber(to + LATE_MS + 1);
  return [
    { from: Math.max(first, end), to: EVERYTHING, only: LATE },
    { from: first, to: end },
  ];
}

async function conditionsOf(
  directory: Directory,
  filter: CallFilter,
  sessions: readonly SessionRow[],
): Promise<string[]> {
  const { from, to, outcome, status, slowerThan, retried, losses, state, refused, text } = filter;
  const { cost, took, tokens, id, not = [] } = filter;
  const columns = Object.entries(filter.columns ?? {});
  const targets = directory.targetsOf(filter);
  const conditions = [
    targets && (await targetCondition(directory, filter, targets)),
    from !== undefined && `at >= ${Math.floor(from)}`,
    to !== undefined && `at < ${Math.floor(to)}`,
    outcome !== undefined && `outcome = ${OUTCOMES.indexOf(outcome)}`,
    status !== undefined && statusCondition(status),
    cost && beyondCondition(cost, "cost"),
    took && beyondCondition(took, "ms"),
    tokens && beyondCondition(tokens, TOKENS),
    id !== undefined && idCondition(id, blob, detailHas(BARE, id)),
    slowerThan !== undefined && `ms >= ${Math.floor(slowerThan)}`,
    filter.tried !== undefined &&
      triedCondition(filter.tried.group, directory.targetsOf({ deployment: filter.tried.at })),
    retried !== undefined && (retried ? "tries > 1" : "tries < 2"),
    filter.rejected !== undefined && `${filter.rejected ? "" : "NOT "}${REJECTED}`,
    losses !== undefined && `${losses ? "" : "NOT "}coalesce(detail, '') LIKE '{"losses":%'`,
    state !== undefined && anyAttempt(stateCondition(state)),
    refused !== undefined && (refused === "any" ? "refused > 0" : `refused = ${REFUSALS.indexOf(refused)}`),
    sessions.length > 0 && `session IN (${sessions.map((row) => blob(row.session)).join(", ")})`,
    ...columns.map(([name, value]) => detailHas(name, value)),
    text && sessions.length === 0 && (await textCondition(directory, text)),
    ...(await Promise.all(not.map((other) => absence(directory, other)))),
  ];
  const named = (["format", "client"] as const).map(async (name) => {
    const value = filter[name];
    if (value === undefined) return false;
    const ids = await directory.find(name, name === "client" ? "begins" : "is", value);
    return `${name} ${inList(ids)}`;
  });
  const asked = filter.asked && `model ${inList(await directory.asked(filter.asked))}`;
  return [...conditions, asked, ...(await Promise.all(named))].filter(
    (condition) => typeof condition === "string",
  );
}

/** Rows without values are none that the other filter finds. */
async function absence(directory: Directory, other: CallFilter): Promise<string> {
  const callers = directory.callersOf(other);
  const conditions = await conditionsOf(directory, other, []);
  if (callers) conditions.push(`caller ${inList(callers)}`);
  return `NOT coalesce((${conditions.join(" AND ")}), 1 = 0)`;
}

/** A model is found by the name that the client asked for, too. */
async function targetCondition(
  directory: Directory,
  { model, provider, deployment }: CallFilter,
  targets: readonly number[],
): Promise<string> {
  const served = anyAttempt(`target ${inList(targets)}`);
  const asked = model === undefined ? [] : await directory.asked(model);
  if (asked.length === 0) return served;
  const places = directory.targetsOf({ provider, deployment });
  const atPlace = places ? ` AND ${anyAttempt(`target ${inList(places)}`)}` : "";
  return `(${served} OR (model ${inList(asked)}${atPlace}))`;
}

/** The row of a call has target and state of its last attempt. */
function anyAttempt(condition: string): string {
  return `(${condition} OR (tries > 1 AND EXISTS (SELECT 1 FROM charges WHERE charges.number = scanned.number AND charges.${condition})))`;
}

/** A condition on the column of a row or of an attempt. */
export function stateCondition(state: NonNullable<CallFilter["state"]>): string {
  if (state === "uncertain") return `state ${UNCERTAIN_STATES}`;
  if (state === "certain") return `state ${CERTAIN_STATES}`;
  return `state ${inList([CHARGE_STATES.indexOf(state)])}`;
}

/** @returns the number below which no row may be looked at; 0 if all may. @param most rows of each scan */
export async function boundOf(sql: Sql, { ranges, scans }: Search, most: number): Promise<number> {
  // The calls that were committed late are few.
  const range = ranges.at(-1)!;
  const bounds = scans.map(async (scan) => {
    const [last] = await sql.all<{ number: number }>(
      `SELECT number FROM calls WHERE number >= $1 AND number < $2 AND ${scan} ORDER BY number DESC LIMIT 1 OFFSET ${most}`,
      [range.from, range.to],
    );
    return last ? last.number + 1 : 0;
  });
  return Math.max(0, ...(await Promise.all(bounds)));
}

async function textCondition(
  directory: Directory,
  { text, keys }: NonNullable<CallFilter["text"]>,
): Promise<string> {
  const id = idCondition(text, blob, detailHas(BARE, text));
  if (text.startsWith("req_")) return id;
  const wanted = text.toLowerCase();
  const targets = [...directory.targets].filter(([, target]) =>
    `${target.deployment} ${target.provider}/${target.model}`.toLowerCase().includes(wanted),
  );
  const callers = [...directory.callers].filter(([, { key }]) => keys.includes(key));
  const models = await directory.find("model", "contains", text);
  const numbers = (entries: readonly (readonly [number, unknown])[]) => inList(entries.map(([id]) => id));
  return `(model ${inList(models)} OR caller ${numbers(callers)} OR ${anyAttempt(`target ${numbers(targets)}`)} OR ${id})`;
}

/** Rows whose `detail` has a member, as JSON.stringify writes it. Within a text its quotation marks would be escaped. */
function detailHas(name: string, value: unknown): string {
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const found = [",", "}"].map((end) => `{DETAIL ${Buffer.from(member + end).toString("hex")}}`);
  if (name === BARE && isBare(value)) found.push(`{BARE ${Buffer.from(value).toString("hex")}}`);
  return `(${found.join(" OR ")})`;
}

/** A literal of bytes; `decode` is PostgreSQL's. */
function blob(bytes: Uint8Array): string {
  return `{BLOB ${bytes.toHex()}}`;
}

/** Writes for a database the literals of bytes, and the searches in `detail`. */
export function withBlobs(dialect: Sql["dialect"], text: string): string {
  const isSqlite = dialect === "sqlite";
  return text.replaceAll(/\{(BLOB|DETAIL|BARE) ([0-9a-f]*)\}/g, (_, what: string, hex: string) => {
    const bytes = isSqlite ? `x'${hex}'` : `decode('${hex}', 'hex')`;
    if (what === "BLOB") return bytes;
    const wanted = isSqlite ? `CAST(${bytes} AS TEXT)` : `convert_from(${bytes}, 'UTF8')`;
    if (what === "BARE") return `detail = ${wanted}`;
    return `${isSqlite ? "instr" : "strpos"}(detail, ${wanted}) > 0`;
  });
}

interface SessionRow {
  session: Uint8Array;
  caller: number;
  first_at: number;
  last_at: number;
}

/** Most hashes of one question. */
const AT_ONCE = 500;

/** Sessions by a hash, or by an id at the client. */
async function sessionsOf(sql: Sql, directory: Directory, wanted: string | undefined): Promise<SessionRow[]> {
  if (wanted === undefined) return [];
  const keys = [...directory.callers.values()].map(({ key }) => key);
  const hashes = sessionHashes(wanted, keys);
  const rows: SessionRow[] = [];
  for (let at = 0; at < hashes.length; at += AT_ONCE) {
    const some = hashes
      .slice(at, at + AT_ONCE)
      .map(blob)
      .join(", ");
    const text = `SELECT session, caller, first_at, last_at FROM sessions WHERE session IN (${some})`;
    rows.push(...(await sql.all<SessionRow>(withBlobs(sql.dialect, text), [])));
  }
  return rows;
}

/** A session is one caller's, between its first and its last call. Without one there is no time at all. */
function narrowed(filter: CallFilter, found: readonly SessionRow[]): CallFilter {
  const [first, last] = [
    Math.min(...found.map(({ first_at: at }) => at)),
    Math.max(...found.map(({ last_at: at }) => at)),
  ];
  if (found.length === 0) return { ...filter, from: 0, to: 0 };
  return {
    ...filter,
    from: Math.max(filter.from ?? 0, first - 1_000),
    to: Math.min(filter.to ?? last + 3_600_000, last + 3_600_000),
  };
}

/** The beginning of an id has a time: the search needs to look at no other. */
function timesOf(filter: CallFilter): CallFilter {
  const text = filter.id ?? (filter.text?.text.startsWith("req_") ? filter.text.text : undefined);
  const times = text === undefined ? undefined : idsFrom(text)?.times;
  // Ids from elsewhere have no time.
  if (!times || text!.length < TIMED || times.low > LAST_TIME || times.high < FIRST_TIME) return filter;
  return {
    ...filter,
    from: Math.max(filter.from ?? 0, times.low - APART_MS),
    to: Math.min(filter.to ?? Number.MAX_SAFE_INTEGER, times.high + APART_MS),
  };
}

/** Length of a text `req_…` with a time to some hours. */
const TIMED = "req_".length + 4;
/** How far the time in an id of weir may be from that of its call. Milliseconds. */
const APART_MS = 60_000;
/** Times that ids of weir have. Milliseconds since 1970. */
const [FIRST_TIME, LAST_TIME] = [1.5e12, 4e12];

function callersOf(directory: Directory, filter: CallFilter, only?: readonly number[]): number[] | undefined {
  const callers = directory.callersOf(filter);
  if (only === undefined) return callers;
  return [...new Set(only)].filter((caller) => callers === undefined || callers.includes(caller));
}
