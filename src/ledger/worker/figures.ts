/** Figures that a client may know of the limits and budgets that count its call. */
import type {
  BudgetFigure,
  LimitFigures,
  LimitSource,
  RateFigure,
  RateKind,
} from "../../core/limit-figures.ts";
import { formatNano } from "../money.ts";
import type { RateUnit } from "../policy.ts";
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

export class CallLimits implements LimitSource {
  readonly #shares: readonly Share[];
  readonly #tell: boolean;

  /** @param tell whether clients see the amounts of budgets */
  constructor(shares: readonly Share[], tell: boolean) {
    this.#shares = shares;
    this.#tell = tell;
  }

  figures(): LimitFigures | undefined {
    const rates: Partial<Record<RateKind, RateFigure>> = {};
    let budget: { share: Share; part: number } | undefined;
    const now = performance.now();
    for (const share of this.#shares) {
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
    const isEmpty = budget === undefined && Object.keys(rates).length === 0;
    return isEmpty ? undefined : { rates, ...(budget && { budget: this.#budget(budget.share) }) };
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
