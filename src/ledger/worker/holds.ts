/** Holds of an attempt on the shares of its lines: taken all or none, and settled together. */
import type { Attempt } from "../../core/call.ts";
import type { Usage } from "../../core/events.ts";
import type { Charge } from "../charge.ts";
import type { Short } from "./asks.ts";
import type { Booking } from "./booking.ts";
import type { Outbox } from "./outbox.ts";
import type { Refusal } from "../messages.ts";
import type { Line, Share } from "./share.ts";
import type { Shares } from "./shares.ts";

/**
 * Holds what the attempt needs of all lines, or nothing.
 * @param now when the attempt began, milliseconds since 1970 @param force also where a share does not suffice
 */
export function takeAll(
  shares: Shares,
  now: number,
  attempt: Attempt,
  booking: Booking,
  force = false,
): boolean {
  const { lines } = booking.applied;
  const count = lines.length;
  const isFirst = booking.shares.length !== count;
  if (isFirst) {
    booking.shares = new Array(count);
    booking.holds = new Array(count);
  }
  const { holds } = booking;
  let suffices = !(isFirst && booking.asksFirst);
  for (let at = 0; at < count; at++) {
    const line = lines[at]!;
    const share = shares.of(line, now, booking.session);
    booking.shares[at] = share;
    const need = booking.isCounted(share, attempt) ? 0 : booking.need(line);
    const left = share.values[share.cell]!;
    const isSoft = line.mode === "soft";
    holds[at] = isSoft ? Math.min(need, Math.max(0, left)) : need;
    if (need > 0 && (isSoft ? left <= 0 : left < need)) suffices = false;
  }
  if (!suffices && !force) return false;
  for (let at = 0; at < count; at++) booking.shares[at]!.hold(holds[at]!);
  return true;
}

/** Counts a call without attempts for limits on the number of calls. @param now milliseconds since 1970 */
export function countCall(shares: Shares, lines: readonly Line[], now: number): void {
  for (const line of lines) {
    const share = shares.of(line, now, undefined);
    share.hold(1);
    share.settle(1, 1);
  }
}

/** The shares that do not suffice, and what the attempt holds of them in the end. */
export function shortsOf(booking: Booking, attempt: Attempt): Short[] {
  return booking.shares.flatMap((share) => {
    const need = booking.isCounted(share, attempt) ? 0 : booking.need(share.line);
    const isShort = share.line.mode === "soft" ? share.left <= 0 : share.left < need;
    const asks = isShort || (booking.asksFirst && share.line.unit === "money");
    return need > 0 && asks ? [{ share, hold: need }] : [];
  });
}

/** The refusal that the client is told, and its line: of several budgets the one that resets last. @param refusals at least one */
export function toldOf(
  refusals: readonly Refusal[],
  shares: readonly Share[],
): { line: Line; refusal: Refusal } {
  const found = refusals.flatMap((refusal) => {
    const share = shares.find(({ account }) => account === refusal.account);
    return share ? [{ line: share.line, refusal }] : [];
  });
  const [first = { line: shares[0]!.line, refusal: refusals[0]! }, ...others] = found;
  if (first.line.unit !== "money") return first;
  const resetOf = ({ refusal }: typeof first) => refusal.resetsAt ?? Infinity;
  return others
    .filter(({ line }) => line.unit === "money")
    .reduce((last, other) => (resetOf(other) > resetOf(last) ? other : last), first);
}

/** Ends all holds but those of places. @param used the tokens that count for rate limits */
export function settleAll({ shares, holds }: Booking, charge: Charge, used: Usage): void {
  for (let at = 0; at < shares.length; at++) {
    const share = shares[at]!;
    const { unit, mode } = share.line;
    if (unit === "money") {
      if (mode === "watch") continue;
      share.settle(holds[at]!, charge.cost);
      share.unreported += charge.cost;
    } else if (unit !== "concurrency") share.settle(holds[at]!, tokensOf(unit, used) ?? holds[at]!);
  }
}

/**
 * Reports what an attempt has cost. It is in one batch with the record of the call, so that the books agree also when the worker
 * dies: what it has not reported is assumed.
 */
export function reportAll({ shares, holds, charge }: Booking, outbox: Outbox): void {
  if (charge === undefined || charge.cost === 0) return;
  for (let at = 0; at < shares.length; at++) {
    const share = shares[at]!;
    const { unit, mode } = share.line;
    if (unit !== "money") continue;
    if (mode !== "watch") share.unreported -= charge.cost;
    outbox.spend(share, charge, mode === "hard" ? holds[at]! : Infinity);
  }
}

/** The places of a call are free when it has ended, whatever its attempts did. */
export function freePlaces({ shares, holds }: Booking): void {
  for (let at = 0; at < shares.length; at++) {
    if (shares[at]!.line.unit !== "concurrency") continue;
    shares[at]!.settle(holds[at]!, 0);
    holds[at] = 0;
  }
}

/** Tokens that count for a rate limit on tokens; undefined for other limits. */
function tokensOf(unit: Line["unit"], used: Usage): number | undefined {
  const input = used.input + used.cacheRead + used.cacheWrite;
  switch (unit) {
    case "tpm":
    case "tpd":
      return input + used.output;
    case "itpm":
      return input;
    case "otpm":
      return used.output;
    default:
      return undefined;
  }
}
