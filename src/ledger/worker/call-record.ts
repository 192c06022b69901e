/** The record of a call, from the call. */
import type { Attempt, Call } from "../../core/call.ts";
import { recordedName } from "../../core/printable.ts";
import { type AttemptRecord, type CallRecord, MAX_PROVIDER_TEXT, type PromptRecord } from "../record.ts";
import { sessionHash } from "../session-hash.ts";
import { Booking } from "./booking.ts";

/** Longest name of a client's SDK. Characters. */
const MAX_CLIENT = 64;
/** Most losses of a record. */
const MAX_LOSSES = 20;

/**
 * The record of a call that has ended, without columns.
 * @param beganAt when the call began, milliseconds since 1970
 */
export function recordOf(
  call: Call,
  attempts: readonly Attempt[],
  beganAt: number,
  prompt?: PromptRecord,
): CallRecord {
  const { attempt, startedAt, endedAt = performance.now(), principal, error } = call;
  const losses = attempt?.losses;
  const first = attempts[0];
  return {
    id: call.id,
    startedAt: Math.round(beganAt),
    ms: short(endedAt - startedAt),
    headMs: since(startedAt, attempt?.headAt),
    firstMs: since(startedAt, attempt?.firstByteAt),
    ownMs: since(startedAt, first?.startedAt),
    key: principal?.key?.id,
    path: principal?.path,
    tags: principal?.tags,
    format: call.format,
    lane: attempt?.lane,
    model: recordedName(call.model),
    stream: call.stream,
    status: call.status,
    outcome: call.outcome ?? "failed",
    refused: error === undefined ? undefined : call.refused,
    error: error && { kind: error.kind, code: error.code },
    finish: attempt?.finish?.slice(0, MAX_PROVIDER_TEXT),
    session: sessionOf(call, attempts),
    client: call.headers.get("user-agent")?.slice(0, MAX_CLIENT) ?? undefined,
    prompt,
    losses: losses?.length ? losses.slice(0, MAX_LOSSES) : undefined,
    attempts:
      attempts.length === 1
        ? [attemptOf(attempts[0]!, endedAt)]
        : attempts.map((made) => attemptOf(made, endedAt)),
  };
}

function attemptOf(attempt: Attempt, endedAt: number): AttemptRecord {
  const { target, failure, usage, startedAt } = attempt;
  const booking = attempt.booking as Booking;
  return {
    provider: target.provider.name,
    deployment: target.deployment.name,
    model: recordedName(target.model),
    class: failure?.class ?? "answered",
    ms: failure?.ms ?? short(endedAt - startedAt),
    usage: booking.estimate ?? usage,
    charge: booking.charge!,
    held: booking.cost,
    expected: booking.size && booking.expected,
    missed: booking.missed,
    accounts: accountsOf(booking),
  };
}

const NO_ACCOUNTS: readonly string[] = [];

/** The accounts of budgets that the attempt was charged to. */
function accountsOf({ shares }: Booking): readonly string[] {
  if (shares.length === 0) return NO_ACCOUNTS;
  const accounts: string[] = [];
  for (const { line, account } of shares) if (line.unit === "money") accounts.push(account);
  return accounts;
}

function sessionOf({ named, principal }: Call, attempts: readonly Attempt[]): string | undefined {
  for (const { booking } of attempts)
    if (booking instanceof Booking && booking.session !== undefined) return booking.session;
  return named === undefined ? undefined : sessionHash(principal?.id ?? "", named);
}

function since(start: number, at: number | undefined): number | undefined {
  return at === undefined ? undefined : short(at - start);
}

/** Tenths of a millisecond: numbers with all digits take several times as long to write. */
function short(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** The offset of the two clocks is read anew after this time: the system may set its clock. Milliseconds. */
const READ_AGAIN_MS = 1000;

/** The time of day of moments on the monotonic clock, without asking the system for it at each call. */
export class TimeOfDay {
  readonly #read: () => number;
  #readAt = -Infinity;
  #offset = 0;

  /** @param read the time of day, milliseconds since 1970 */
  constructor(read: () => number = Date.now) {
    this.#read = read;
  }

  /** @param moment a recent moment of `performance.now()` @returns milliseconds since 1970 */
  at(moment: number): number {
    if (moment - this.#readAt > READ_AGAIN_MS) {
      this.#readAt = performance.now();
      this.#offset = this.#read() - this.#readAt;
    }
    return moment + this.#offset;
  }
}
