/** Writes the record of a call as a row of `calls` and, with several attempts, rows of `charges`. */
import type { Usage } from "../../core/events.ts";
import { CHARGE_STATES, PRICE_DOUBTS } from "../../ledger/charge.ts";
import { type AttemptRecord, type CallRecord, FORMER_MEMBERS, RECORD_MEMBERS } from "../../ledger/record.ts";
import { accountsOf, callerOf, errorOf, type Names, targetOf } from "../store/names.ts";
import type { SqlValue } from "../store/sql.ts";
import { packDetail } from "./detail.ts";

export const OUTCOMES = ["complete", "failed", "cancelled"] as const;
export const REFUSALS = ["", "rate", "tokens", "concurrency", "budget", "scope", "price"] as const;
export const LANES = ["", "native", "translated", "generated"] as const;
/** Bit of `flags` above the two bits of the lane. */
export const STREAM = 4;
/** Above it: the place of a single attempt's doubt in {@link PRICE_DOUBTS}, from 1 on. */
export const DOUBT = 8;

export const CALL_COLUMNS = [
  "number",
  "request",
  "at",
  "caller",
  "session",
  "model",
  "format",
  "client",
  "flags",
  "status",
  "outcome",
  "refused",
  "error",
  "finish",
  "ms",
  "head_ms",
  "first_ms",
  "own_us",
  "tries",
  "attempt_ms",
  "target",
  "tier",
  "input",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "output",
  "reasoning",
  "cost",
  "held",
  "state",
  "price",
  "accounts",
  "detail",
] as const;

export const CHARGE_COLUMNS = [
  "number",
  "n",
  "target",
  "class",
  "ms",
  "usage",
  "cost",
  "held",
  "state",
  "price",
  "doubt",
  "accounts",
] as const;

/** Usage that has a column of its own. */
export const COUNTS = [
  ["input", "input"],
  ["cacheRead", "cache_read"],
  ["cacheWrite", "cache_write"],
  ["cacheWrite1h", "cache_write_1h"],
  ["output", "output"],
  ["reasoning", "reasoning"],
] as const;

export function callRow(number: number, call: CallRecord, names: Names): SqlValue[] {
  const { attempts, client, error, finish, session } = call;
  const at = startOf(call);
  const last = attempts.at(-1);
  const single = attempts.length === 1 ? last : undefined;
  const totals = COUNTS.map(([count]) => sum(attempts, ({ usage }) => usage[count] ?? 0));
  const tier = last?.usage.tier;
  return [
    number,
    packId(call.id, at),
    at,
    names.id("caller", callerOf(call)),
    session === undefined ? null : packHash(session),
    names.id("model", call.model),
    names.id("format", call.format),
    client === undefined ? null : names.id("client", client),
    flagsOf(call, single),
    call.status,
    OUTCOMES.indexOf(call.outcome),
    REFUSALS.indexOf(call.refused ?? ""),
    error ? names.id("error", errorOf(error)) : null,
    finish === undefined ? null : names.id("finish", finish),
    Math.round(call.ms),
    rounded(call.headMs),
    rounded(call.firstMs),
    call.ownMs === undefined ? null : Math.round(call.ownMs * 1000),
    attempts.length,
    single ? Math.round(single.ms) : null,
    last ? names.id("target", targetOf(last)) : null,
    tier === undefined ? null : names.id("tier", tier),
    ...totals,
    sum(attempts, ({ charge }) => charge.cost),
    sum(attempts, ({ held }) => held),
    last ? CHARGE_STATES.indexOf(last.charge.state) : null,
    last?.charge.price === undefined ? null : names.price(last.charge.price),
    single ? names.id("accounts", accountsOf(single)) : null,
    detailOf(call, single) ?? null,
  ];
}

/** The rows of the attempts of a call; none for a call with fewer than two. */
export function chargeRows(number: number, { attempts }: CallRecord, names: Names): SqlValue[][] {
  if (attempts.length < 2) return [];
  return attempts.map((attempt, index) => [
    number,
    index + 1,
    names.id("target", targetOf(attempt)),
    attempt.class,
    Math.round(attempt.ms),
    // Counts of zero are left out. A price of zero that the provider reports is a fact.
    JSON.stringify(attempt.usage, (name, value: unknown) =>
      value === 0 && name !== "reported" ? undefined : value,
    ),
    attempt.charge.cost,
    attempt.held,
    CHARGE_STATES.indexOf(attempt.charge.state),
    attempt.charge.price === undefined ? null : names.price(attempt.charge.price),
    attempt.charge.doubt ?? null,
    names.id("accounts", accountsOf(attempt)),
  ]);
}

function flagsOf(call: CallRecord, single: AttemptRecord | undefined): number {
  const doubt = single?.charge.doubt;
  return (
    LANES.indexOf(call.lane ?? "") +
    (call.stream ? STREAM : 0) +
    (doubt === undefined ? 0 : (PRICE_DOUBTS.indexOf(doubt) + 1) * DOUBT)
  );
}

function detailOf(call: CallRecord, single: AttemptRecord | undefined): string | undefined {
  return packDetail({
    ...(call.losses?.length && { losses: call.losses }),
    ...columnsIn(call),
    ...(single && single.class !== "answered" && { class: single.class }),
    ...(single && restOf(single.usage)),
    ...(single && single.expected !== undefined && isOver(single) && { expected: single.expected }),
  });
}

/** The members of columns, which the keeper does not know. */
function columnsIn(call: CallRecord): Record<string, unknown> | undefined {
  let members: Record<string, unknown> | undefined;
  for (const name in call)
    if (!RECORD_MEMBERS.has(name) && !FORMER_MEMBERS.has(name))
      (members ??= {})[name] = call[name as keyof CallRecord];
  return members;
}

function isOver({ charge, held }: AttemptRecord): boolean {
  return held > 0 && charge.cost > held;
}

/** The usage that has no column. `known: final` follows from counts that are not zero. */
function restOf(usage: Usage): { usage?: Partial<Usage> } {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, tier, ...rest } = usage;
  if (rest.known === "final" && input + cacheRead + cacheWrite + output > 0) delete rest.known;
  for (const name in rest) if (rest[name as keyof typeof rest] !== undefined) return { usage: rest };
  return {};
}

export function sum<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += amount(item);
  return total;
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}

/** Ids of weir are `req_` and 24 characters of base64url: 6 bytes of time, 12 random ones. Others are stored as their text. */
const ID = /^req_[A-Za-z0-9_-]{24}$/;
const ID_BYTES = 18;
const TIME_BYTES = 6;
/** The clocks of the id and the record are read one after the other. Milliseconds. */
const APART_MS = 10;

/** When a call began: the time in its id, if that is as good as the record's. Milliseconds since 1970. */
export function startOf({ id, startedAt }: CallRecord): number {
  const at = Math.round(startedAt);
  const time = timeIn(id);
  return time !== undefined && Math.abs(time - at) <= APART_MS ? time : at;
}

/** The text of a time, and the time: it is read several times for each call. */
let timeText = "";
let time = 0;

/** The time in an id of weir. Milliseconds since 1970. */
export function timeIn(id: string): number | undefined {
  if (!ID.test(id)) return undefined;
  const text = id.slice(4, 12);
  if (text !== timeText) {
    time = Buffer.from(text, "base64url").readUIntBE(0, TIME_BYTES);
    timeText = text;
  }
  return time;
}

/** @param at when the call began: an id with that time is stored without it */
export function packId(id: string, at: number): Uint8Array {
  const time = timeIn(id);
  if (time !== undefined) return Buffer.from(id.slice(time === at ? 12 : 4), "base64url");
  const bytes = new TextEncoder().encode(id);
  if (bytes.length !== ID_BYTES && bytes.length !== ID_BYTES - TIME_BYTES) return bytes;
  // A text must not have the length of an id.
  const longer = new Uint8Array(ID_BYTES + 1);
  longer.set(bytes);
  return longer;
}

export function unpackId(bytes: Uint8Array, at: number): string {
  if (bytes.length === ID_BYTES) return `req_${bytes.toBase64({ alphabet: "base64url" })}`;
  if (bytes.length === ID_BYTES - TIME_BYTES) {
    const time = Buffer.alloc(TIME_BYTES);
    time.writeUIntBE(at, 0, TIME_BYTES);
    return `req_${time.toString("base64url")}${bytes.toBase64({ alphabet: "base64url" })}`;
  }
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
}

/** Hashes of sessions are 16 hexadecimal digits. */
export function packHash(hash: string): Uint8Array {
  return /^[0-9a-f]{16}$/.test(hash) ? Uint8Array.fromHex(hash) : new TextEncoder().encode(hash);
}

export function unpackHash(bytes: Uint8Array): string {
  return bytes.length === 8 ? bytes.toHex() : new TextDecoder().decode(bytes);
}
