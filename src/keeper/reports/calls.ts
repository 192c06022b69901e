/** The records of calls, as they were sent. */
import { NO_USAGE, type Usage } from "../../core/events.ts";
import { CHARGE_STATES, PRICE_DOUBTS, type PriceDoubt } from "../../ledger/charge.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import {
  DOUBT,
  LANES,
  OUTCOMES,
  packId,
  REFUSALS,
  STREAM,
  timeIn,
  unpackHash,
  unpackId,
} from "../record/call-rows.ts";
import { type CallDetail, unpackDetail } from "../record/detail.ts";
import type { NamedTables } from "../seams.ts";
import { parseCaller, parseTarget } from "../store/names.ts";
import { firstNumber, timeOf } from "../store/numbers.ts";
import { LATE, LATE_MS } from "../store/schema.ts";
import type { Sql } from "../store/sql.ts";
import { type NumberRange, searchFor, withBlobs } from "./call-search.ts";
import { type Directory, inList } from "./directory.ts";
import { listSorted } from "./sorted-calls.ts";
import type { CallPage, CallQuery } from "./shapes.ts";

/** Most rows that one page looks at. */
export const SCANNED = 10_000;

interface CallRow {
  number: number;
  request: Uint8Array;
  at: number;
  caller: number;
  session: Uint8Array | null;
  model: number;
  format: number;
  client: number | null;
  flags: number;
  status: number;
  outcome: number;
  refused: number;
  error: number | null;
  finish: number | null;
  ms: number;
  head_ms: number | null;
  first_ms: number | null;
  own_us: number | null;
  tries: number;
  /** Of a single attempt. */
  attempt_ms: number | null;
  target: number | null;
  tier: number | null;
  input: number;
  cache_read: number;
  cache_write: number;
  cache_write_1h: number;
  output: number;
  reasoning: number;
  cost: number;
  held: number;
  state: number | null;
  price: number | null;
  accounts: number | null;
  detail: string | null;
}

interface ChargeRow {
  number: number;
  target: number;
  class: string;
  ms: number;
  usage: string;
  cost: number;
  held: number;
  state: number;
  price: number | null;
  doubt: PriceDoubt | null;
  accounts: number | null;
}

/**
 * A page of calls, the newest first, or in the order of `sort`. A search without many matches ends after {@link SCANNED} rows.
 * @param features their tables, which may have members of records
 */
export async function listCalls(
  sql: Sql,
  directory: Directory,
  filter: CallQuery,
  features: readonly NamedTables[],
): Promise<CallPage> {
  await directory.refresh();
  const { limit, after, sort } = filter;
  const search = await searchFor(sql, directory, filter);
  if (sort !== undefined) {
    const { rows, ...page } = await listSorted<CallRow>(sql, search, { limit, after, sort });
    return { calls: await toRecords(sql, directory, rows, features), ...page };
  }
  const { ranges, scans, conditions } = search;
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
  const rows: CallRow[] = [];
  let bound = 0;
  for (const { from, to, only } of ranges) {
    const range = { from, to: Math.min(to, before), only };
    if (range.from >= range.to) continue;
    const wanted = limit + 1 - rows.length;
    const pages = await Promise.all(scans.map((scan) => scanRows(sql, scan, conditions, range, wanted)));
    // A page that looked at as many rows as it may hides what others have beyond that row.
    bound = Math.max(0, ...pages.map((page) => page.bound ?? 0));
    const found = pages.flatMap((page) => page.rows).filter(({ number }) => number >= bound);
    rows.push(...found.sort((a, b) => b.number - a.number));
    if (rows.length > limit || bound > 0) break;
  }
  const shown = rows.slice(0, limit);
  const isFull = rows.length > limit;
  const next = isFull ? shown.at(-1)!.number : bound > 0 ? bound : undefined;
  const bounded = !isFull && bound > 0;
  return {
    calls: await toRecords(sql, directory, shown, features),
    ...(next !== undefined && { next: String(next) }),
    bounded,
    ...(bounded && { searchedTo: timeOf(bound) }),
  };
}

/** Most rows that are looked at for an id that does not say when its call began, the newest. */
const TIMELESS = 1_000_000;

/** @returns the record of a call; undefined if there is none or its row was deleted */
export async function readCall(
  sql: Sql,
  directory: Directory,
  id: string,
  features: readonly NamedTables[],
): Promise<CallRecord | undefined> {
  const started = timeIn(id);
  const find = (where: string, values: readonly number[]) =>
    sql.all<CallRow>(`SELECT * FROM calls WHERE ${where} AND (request = $1 OR (at = $2 AND request = $3))`, [
      ...[packId(id, -1), started ?? 0, packId(id, started ?? 0)],
      ...values,
    ]);
  let rows = started === undefined ? [] : await findNear(started, find);
  if (rows.length === 0) rows = await findTimeless(sql, find);
  return rows.length > 0 ? (await toRecords(sql, directory, rows, features))[0] : undefined;
}

type Find = (where: string, values: readonly number[]) => Promise<CallRow[]>;

/** An id has the time of its call, and most calls are written soon after it; an index finds the others. */
async function findNear(started: number, find: Find): Promise<CallRow[]> {
  const near = [firstNumber(started - 1_000), firstNumber(started + LATE_MS + 1_000)];
  const rows = await find("number >= $4 AND number < $5", near);
  return rows.length > 0 ? rows : find(`number >= $4 AND ${LATE}`, [near[0]!]);
}

async function findTimeless(sql: Sql, find: Find): Promise<CallRow[]> {
  const [last] = await sql.all<{ number: number }>(
    `SELECT number FROM calls ORDER BY number DESC LIMIT 1 OFFSET ${TIMELESS}`,
  );
  return find("number >= $4", [last?.number ?? 0]);
}

async function scanRows(
  sql: Sql,
  scan: string,
  conditions: readonly string[],
  { from, to, only = "1 = 1" }: NumberRange,
  wanted: number,
): Promise<{ rows: CallRow[]; bound?: number }> {
  const inner = `FROM calls WHERE number < $1 AND number >= $2 AND ${only} AND ${scan} ORDER BY number DESC`;
  const text = `SELECT * FROM (SELECT * ${inner} LIMIT ${SCANNED}) AS scanned WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT $3`;
  const rows = await sql.all<CallRow>(withBlobs(sql.dialect, text), [to, from, wanted]);
  if (rows.length >= wanted) return { rows };
  const [last] = await sql.all<{ number: number }>(`SELECT number ${inner} LIMIT 1 OFFSET ${SCANNED - 1}`, [
    to,
    from,
  ]);
  return last ? { rows, bound: last.number } : { rows };
}

async function toRecords(
  sql: Sql,
  directory: Directory,
  rows: readonly CallRow[],
  features: readonly NamedTables[],
): Promise<CallRecord[]> {
  const several = rows.filter(({ tries }) => tries > 1).map(({ number }) => number);
  const charges = await sql.all<ChargeRow>(
    `SELECT * FROM charges WHERE number ${inList(several)} ORDER BY number, n`,
  );
  const ids = [
    ...rows.flatMap((row) => [
      row.caller,
      row.model,
      row.format,
      row.client,
      row.error,
      row.finish,
      row.tier,
    ]),
    ...[...rows, ...charges].flatMap(({ target, accounts }) => [target, accounts]),
  ].filter((id) => id !== null);
  const names = await directory.texts(ids);
  const prices = await directory.prices();
  const numbers = rows.map(({ number }) => number);
  const joined = await Promise.all(features.flatMap(({ tables }) => tables.join?.(sql, numbers) ?? []));
  return rows.map((row) =>
    Object.assign(toRecord(row, charges, names, prices), ...joined.map((members) => members.get(row.number))),
  );
}

type Texts = ReadonlyMap<number, string>;

function toRecord(row: CallRow, charges: readonly ChargeRow[], names: Texts, prices: Texts): CallRecord {
  const caller = parseCaller(names.get(row.caller) ?? '["","/",[]]');
  const detail = unpackDetail(row.detail);
  const { losses, class: _class, usage: _usage, doubt: _doubt, expected: _expected, ...columns } = detail;
  const lane = LANES[row.flags % STREAM];
  const [kind, code] = split(textOf(names, row.error));
  const refused = REFUSALS[row.refused];
  return {
    id: unpackId(row.request, row.at),
    startedAt: row.at,
    ms: row.ms,
    ...(row.head_ms !== null && { headMs: row.head_ms }),
    ...(row.first_ms !== null && { firstMs: row.first_ms }),
    ...(row.own_us !== null && { ownMs: row.own_us / 1000 }),
    ...(caller.key !== "" && { key: caller.key }),
    path: caller.path,
    ...(caller.tags.length > 0 && { tags: caller.tags }),
    format: names.get(row.format) ?? "",
    ...(lane && { lane }),
    model: names.get(row.model) ?? "",
    stream: (row.flags & STREAM) !== 0,
    status: row.status,
    outcome: OUTCOMES[row.outcome] ?? "failed",
    ...(refused && { refused }),
    ...(kind !== undefined && { error: { kind, ...(code !== undefined && { code }) } }),
    ...(row.finish !== null && { finish: names.get(row.finish) ?? "" }),
    ...(row.session && { session: unpackHash(row.session) }),
    ...(row.client !== null && { client: names.get(row.client) ?? "" }),
    ...(losses && { losses }),
    ...columns,
    attempts:
      row.tries === 1
        ? [single(row, detail, names, prices)]
        : charges
            .filter(({ number }) => number === row.number)
            .map((charge) => several(charge, names, prices)),
  };
}

function single(row: CallRow, detail: CallDetail, names: Texts, prices: Texts): AttemptRecord {
  const tier = textOf(names, row.tier);
  return {
    ...parseTarget(textOf(names, row.target) ?? '["","",""]'),
    class: detail.class ?? "answered",
    ms: row.attempt_ms ?? row.ms,
    usage: {
      input: row.input,
      cacheRead: row.cache_read,
      cacheWrite: row.cache_write,
      output: row.output,
      reasoning: row.reasoning,
      ...(row.cache_write_1h > 0 && { cacheWrite1h: row.cache_write_1h }),
      ...(tier !== undefined && { tier }),
      ...detail.usage,
    },
    ...chargeOf(row, doubtOf(row) ?? detail.doubt, names, prices),
    ...(detail.expected !== undefined && { expected: detail.expected }),
  };
}

function doubtOf({ flags }: CallRow): PriceDoubt | undefined {
  return PRICE_DOUBTS[Math.floor(flags / DOUBT) - 1];
}

function several(row: ChargeRow, names: Texts, prices: Texts): AttemptRecord {
  return {
    ...parseTarget(names.get(row.target) ?? '["","",""]'),
    class: row.class as AttemptRecord["class"],
    ms: row.ms,
    usage: { ...NO_USAGE, ...(JSON.parse(row.usage) as Partial<Usage>) },
    ...chargeOf(row, row.doubt ?? undefined, names, prices),
  };
}

function chargeOf(
  { cost, held, state, price, accounts }: Pick<CallRow, "cost" | "held" | "state" | "price" | "accounts">,
  doubt: PriceDoubt | undefined,
  names: Texts,
  prices: Texts,
): Pick<AttemptRecord, "charge" | "held" | "accounts"> {
  const ref = textOf(prices, price);
  return {
    charge: {
      state: CHARGE_STATES[state ?? -1] ?? "assumed",
      cost,
      ...(ref !== undefined && { price: ref }),
      ...(doubt && { doubt }),
    },
    held,
    accounts: JSON.parse(textOf(names, accounts) ?? "[]") as string[],
  };
}

function textOf(texts: Texts, id: number | null): string | undefined {
  return id === null ? undefined : texts.get(id);
}

function split(text: string | undefined): [kind?: string, code?: string] {
  if (text === undefined) return [];
  const at = text.indexOf("/");
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
