/** Figures that a client may know of the limits and budgets that count its call. */
import type { CapSource } from "../../core/caps.ts";
import type { BudgetFigure, LimitFigures, RateFigure, RateKind } from "../../core/limit-figures.ts";
import type { Principal } from "../../core/principal.ts";
import type { Cap } from "../../core/standing.ts";
import { formatNano, toDollars } from "../money.ts";
import type { RateUnit } from "../policy.ts";
import type { Applied, Booking } from "./booking.ts";
import { isOnKey, isOwn } from "./line.ts";
import { periodOf } from "../windows.ts";
import type { Share } from "./share.ts";

/** Kind and length of the window of each unit. Milliseconds. */
const KINDS: Readonly<Partial<Record<RateUnit, { kind: RateKind; ms: number }>>> = {
  rpm: { kind: "requests", ms: 60_000 },
  rpd: { kind: "requests", ms: 86_400_000 },
  tpm: { kind: "tokens", ms: 60_000 },
  tpd: { kind: "tokens", ms: 86_400_000 },
  itpm: { kind: "input-tokens", ms: 60_000 },
  otpm: { kind: "output-tokens", ms: 60_000 },
};

/** Figures are the same for all calls of this time. Milliseconds. */
const RENEW_MS = 20;
/** Only where this many more calls of the kind fit in: what one of them takes is then not worth a header of its own. */
const PLENTY = 1_000;

/** The last figures of a key at a target. */
const recent = new WeakMap<Applied, { figures: LimitFigures; at: number }>();

export class CallLimits implements CapSource {
  readonly #booking: Booking;
  readonly #tell: boolean;

  /** @param tell whether clients see the amounts of budgets */
  constructor(booking: Booking, tell: boolean) {
    this.#booking = booking;
    this.#tell = tell;
  }

  figures(): LimitFigures | undefined {
    const { applied } = this.#booking;
    const now = performance.now();
    // A call that takes much, or is refused, has figures of its own, also right after one that takes little.
    const forMany = this.#hasPlenty();
    const last = forMany ? recent.get(applied) : undefined;
    if (last && now - last.at < RENEW_MS) return last.figures;
    const figures = this.#read(now, forMany);
    if (figures && forMany) recent.set(applied, { figures, at: now });
    return figures;
  }

  caps(principal: Principal): readonly Cap[] {
    if (!this.#tell) return [];
    return this.#booking.shares.flatMap(({ line, known, left, held, endsAt }) => {
      const { budget, mode, on, name } = line;
      const isCap = budget && mode !== "watch" && on.kind !== "session" && isOnKey(on, principal);
      if (!isCap || !known || !Number.isFinite(endsAt)) return [];
      // Holds of running calls are no part of what is left, and are not spent yet.
      const spent = toDollars(Math.max(0, known.limit - known.left - left - held));
      const cap = { name, period: periodOf(budget.window), limit: toDollars(known.limit), spent };
      return [{ ...cap, resetsAt: endsAt, isShared: !isOwn(on, principal) }];
    });
  }

  #hasPlenty(): boolean {
    const booking = this.#booking;
    // An account for each session is of its own calls alone.
    if (booking.applied.hasSessions) return false;
    for (const { known, left, line } of booking.shares)
      if (known?.left !== undefined && known.left + left < PLENTY * booking.need(line)) return false;
    return true;
  }

  #read(now: number, forMany: boolean): LimitFigures | undefined {
    const rates: Partial<Record<RateKind, RateFigure>> = {};
    let budget: { share: Share; part: number } | undefined;
    for (const share of this.#booking.shares) {
      const { limit, left } = share.known ?? {};
      if (limit === undefined || left === undefined) continue;
      const { unit, mode } = share.line;
      if (unit === "money") {
        const part = limit > 0 ? (left + share.left) / limit : 0;
        if (mode !== "watch" && (!budget || part < budget.part)) budget = { share, part };
        continue;
      }
      const known = KINDS[unit];
      if (!known) continue;
      const figure = rateFigure(share, limit, known.ms, now);
      const other = rates[known.kind];
      if (!other || figure.remaining / figure.limit < other.remaining / other.limit)
        rates[known.kind] = figure;
    }
    if (budget === undefined && Object.keys(rates).length === 0) return undefined;
    return { rates, ...(budget && { budget: this.#budget(budget.share) }), forMany };
  }

  #budget({ line, known, left, endsAt }: Share): BudgetFigure {
    return {
      name: line.name,
      ...(this.#tell && { left: formatNano(Math.max(0, known!.left + left)) }),
      ...(Number.isFinite(endsAt) && { resetsAt: endsAt }),
    };
  }
}

/** The limit fills continuously, so some of it has come back since the keeper reported it. */
function rateFigure({ line, known, left }: Share, limit: number, windowMs: number, now: number): RateFigure {
  const refilled = ((now - known!.at) * limit) / windowMs;
  const most = Math.min(line.most, limit);
  const remaining = Math.floor(Math.min(most, Math.max(0, known!.left + left + refilled)));
  return { limit, remaining, resetMs: Math.ceil(((most - remaining) * windowMs) / limit) };
}
