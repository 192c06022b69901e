/** Which rows of `calls` a filter selects: ranges of numbers that are read, newest first, and conditions on the rows. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { OUTCOMES, packHash, packId, REFUSALS, timeIn } from "../record/call-rows.ts";
import { BARE, isBare } from "../record/detail.ts";
import { firstNumber } from "../store/numbers.ts";
import { LATE, LATE_MS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";
import { type Directory, inList } from "./directory.ts";
import type { CallFilter } from "./shapes.ts";

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
/** The states of charges that are uncertain, as a condition on a column. */
export const UNCERTAIN_STATES = inList(UNCERTAIN.map((state) => CHARGE_STATES.indexOf(state)));
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** @param directory refreshed */
export async function searchFor(sql: Sql, directory: Directory, filter: CallFilter): Promise<Search> {
  const { session } = filter;
  const bySession = session === undefined ? undefined : await sessionOf(sql, session);
  const within = bySession ? narrowed(filter, bySession) : filter;
  const callers = callersOf(directory, filter, bySession?.caller);
  // The index finds the calls of one caller in order. A key has few callers, a path may have many.
  const isIndexed = callers !== undefined && (filter.key !== undefined || bySession !== undefined);
  const conditions = await conditionsOf(directory, within);
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

async function conditionsOf(directory: Directory, filter: CallFilter): Promise<string[]> {
  const { from, to, outcome, status, slowerThan, retried, losses, state, refused, session, text } = filter;
  const columns = Object.entries(filter.columns ?? {});
  const targets = directory.targetsOf(filter);
  const conditions = [
    targets && (await targetCondition(directory, filter, targets)),
    from !== undefined && `at >= ${Math.floor(from)}`,
    to !== undefined && `at < ${Math.floor(to)}`,
    outcome !== undefined && `outcome = ${OUTCOMES.indexOf(outcome)}`,
    status !== undefined && `status = ${Math.floor(status)}`,
    slowerThan !== undefined && `ms >= ${Math.floor(slowerThan)}`,
    retried !== undefined && (retried ? "tries > 1" : "tries < 2"),
    losses !== undefined && `${losses ? "" : "NOT "}coalesce(detail, '') LIKE '{"losses":%'`,
    state !== undefined && anyAttempt(`state ${statesOf(state)}`),
    refused !== undefined && (refused === "any" ? "refused > 0" : `refused = ${REFUSALS.indexOf(refused)}`),
    session !== undefined && `session = ${blob(packHash(session))}`,
    ...columns.map(([name, value]) => detailHas(name, value)),
    text && (await textCondition(directory, text)),
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

function statesOf(state: NonNullable<CallFilter["state"]>): string {
  return state === "uncertain" ? UNCERTAIN_STATES : inList([CHARGE_STATES.indexOf(state)]);
}

async function textCondition(
  directory: Directory,
  { text, keys }: NonNullable<CallFilter["text"]>,
): Promise<string> {
  const started = timeIn(text);
  if (started !== undefined)
    return `(request = ${blob(packId(text, -1))} OR (at = ${started} AND request = ${blob(packId(text, started))}))`;
  const wanted = text.toLowerCase();
  const targets = [...directory.targets].filter(([, target]) =>
    `${target.deployment} ${target.provider}/${target.model}`.toLowerCase().includes(wanted),
  );
  const callers = [...directory.callers].filter(([, { key }]) => keys.includes(key));
  const models = await directory.find("model", "contains", text);
  const numbers = (entries: readonly (readonly [number, unknown])[]) => inList(entries.map(([id]) => id));
  return `(model ${inList(models)} OR caller ${numbers(callers)} OR ${anyAttempt(`target ${numbers(targets)}`)})`;
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
  caller: number;
  first_at: number;
  last_at: number;
}

async function sessionOf(sql: Sql, session: string): Promise<SessionRow> {
  const [row] = await sql.all<SessionRow>(
    "SELECT caller, first_at, last_at FROM sessions WHERE session = $1",
    [packHash(session)],
  );
  return row ?? { caller: -1, first_at: 0, last_at: 0 };
}

/** A session is one caller's, between its first and its last call. */
function narrowed(filter: CallFilter, { first_at: first, last_at: last }: SessionRow): CallFilter {
  return {
    ...filter,
    from: Math.max(filter.from ?? 0, first - 1_000),
    to: Math.min(filter.to ?? last + 3_600_000, last + 3_600_000),
  };
}

function callersOf(directory: Directory, filter: CallFilter, only?: number): number[] | undefined {
  const callers = directory.callersOf(filter);
  if (only === undefined) return callers;
  return callers === undefined || callers.includes(only) ? [only] : [];
}
