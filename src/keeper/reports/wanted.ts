/** Conditions of a search that stand for several values: bounds, statuses, beginnings of ids and sessions of clients. */
import { packHash } from "../record/call-rows.ts";
import { sessionHash } from "../../ledger/session-hash.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import type { Bound } from "./shapes.ts";

/** Integers that `low <= n <= high`. */
export interface Span {
  low: number;
  high: number;
}

/** What a row has in its columns for {@link Bound}s and orders. */
export const TOKENS = "(input + cache_read + cache_write + output)";

export function isBeyond({ sign, value }: Bound, given: number): boolean {
  if (sign === ">") return given > value;
  if (sign === ">=") return given >= value;
  return sign === "<" ? given < value : given <= value;
}

/** @param column the sign is one of four, whatever came over the channel */
export function beyondCondition({ sign, value }: Bound, column: string): string {
  const known = ([">", ">=", "<", "<="] as const).find((one) => one === sign) ?? ">";
  return `${column} ${known} ${Number(value)}`;
}

export function tokensOf(attempts: readonly AttemptRecord[]): number {
  return attempts.reduce(
    (sum, { usage }) => sum + usage.input + usage.cacheRead + usage.cacheWrite + usage.output,
    0,
  );
}

export function costOf(attempts: readonly AttemptRecord[]): number {
  return attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
}

const WEIR_ID = /^req_[A-Za-z0-9_-]{0,24}$/;
const SIGNS = 24;
const TIME_BYTES = 6;

/** The first and last id of weir that begin with a text. */
export interface IdRange {
  low: Uint8Array;
  high: Uint8Array;
  /** The times in these ids. Milliseconds since 1970. */
  times: Span;
}

/** @returns undefined for a text with which no id of weir begins */
export function idsFrom(text: string): IdRange | undefined {
  if (!WEIR_ID.test(text)) return undefined;
  const given = text.slice("req_".length);
  const [low, high] = ["A", "_"].map((sign) => Buffer.from(given.padEnd(SIGNS, sign), "base64url"));
  const timeIn = (bytes: Buffer) => bytes.readUIntBE(0, TIME_BYTES);
  return { low: low!, high: high!, times: { low: timeIn(low!), high: timeIn(high!) } };
}

/** Rows of calls whose id begins with a text, or whose provider's id it is. @param blob a literal of bytes */
export function idCondition(text: string, blob: (bytes: Uint8Array) => string, detail: string): string {
  const range = idsFrom(text);
  const bytes = new TextEncoder().encode(text);
  const other = `(request >= ${blob(bytes)} AND request <= ${blob(new Uint8Array([...bytes, 255]))})`;
  if (!range) return `(${other} OR ${detail})`;
  const { low, high, times } = range;
  const [from, to] = [low, high].map((one) => blob(one));
  const [fromRest, toRest] = [low, high].map((one) => blob(one.slice(TIME_BYTES)));
  // The first of the ids with a time have no smaller rest than the others; between the two times each rest will do.
  const within = `(at > ${times.low} OR request >= ${fromRest}) AND (at < ${times.high} OR request <= ${toRest})`;
  return `(${other} OR (length(request) = 18 AND request >= ${from} AND request <= ${to}) OR
    (length(request) = 12 AND at >= ${times.low} AND at <= ${times.high} AND ${within}))`;
}

/** The hashes that a session has by its hash, or by its id at the client: each key has another hash for it. */
export function sessionHashes(session: string, keys: Iterable<string>): Uint8Array[] {
  const hashes = [...new Set(keys)].map((key) => packHash(sessionHash(key, session)));
  return /^[0-9a-f]{16}$/.test(session) ? [packHash(session), ...hashes] : hashes;
}

export function isSession({ session, key = "" }: CallRecord, wanted: string): boolean {
  return session !== undefined && (session === wanted || session === sessionHash(key, wanted));
}

export function isStatus(spans: readonly Span[], status: number): boolean {
  return spans.some(({ low, high }) => status >= low && status <= high);
}

export function statusCondition(spans: readonly Span[]): string {
  return `(${spans.map(({ low, high }) => `status BETWEEN ${Number(low)} AND ${Number(high)}`).join(" OR ")})`;
}
