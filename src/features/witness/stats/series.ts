/** Series of what looks saw, and the comparison of their last steps with all before. */
import { logTail, roughLogTail } from "./tail.ts";

/** What a window has more or less of than all looks together. */
export interface Shift {
  /** A category, or a share of the values. */
  readonly what: number;
  readonly isMore: boolean;
  /** Logarithm of the probability of as much by chance. */
  readonly logP: number;
  /** How many of how many in the window, and before it. */
  readonly found: number;
  readonly drawn: number;
  readonly foundBefore: number;
  readonly drawnBefore: number;
}

/** An exact tail is not much smaller than the rough one. What the rough one leaves out is no alarm. Nats. */
const SLACK = 4;

/**
 * Whether the last `drawn` of `all` values have too many or too few of the marked ones.
 * @param limit logarithm of the probability from which on it counts
 */
export function shiftOf(
  all: number,
  marked: number,
  drawn: number,
  found: number,
  limit: number,
): Omit<Shift, "what"> | undefined {
  const isMore = found * all > drawn * marked;
  // Too few in the window are too many before it.
  const [size, count] = isMore ? [drawn, found] : [all - drawn, marked - found];
  if (roughLogTail(all, marked, size, count) > limit + SLACK) return undefined;
  const logP = logTail(all, marked, size, count);
  const before = { foundBefore: marked - found, drawnBefore: all - drawn };
  return logP <= limit ? { isMore, logP, found, drawn, ...before } : undefined;
}

/** Answers to one group of questions, as categories. */
export class CategorySeries {
  readonly #values: number[] = [];
  readonly #totals: Int32Array;
  readonly #counts: Int32Array;

  constructor(size: number) {
    this.#totals = new Int32Array(size);
    this.#counts = new Int32Array(size);
  }

  get length(): number {
    return this.#values.length;
  }

  push(category: number): void {
    this.#values.push(category);
    this.#totals[category]!++;
  }

  /** Compares the last values with all before them. @param limit of each category and direction, a logarithm */
  compare(drawn: number, limit: number): Shift | undefined {
    const all = this.#values.length;
    const counts = this.#counts.fill(0);
    for (let at = all - drawn; at < all; at++) counts[this.#values[at]!]!++;
    let best: Shift | undefined;
    for (let what = 0; what < counts.length; what++) {
      const marked = this.#totals[what]!;
      if (marked === 0) continue;
      const shift = shiftOf(all, marked, drawn, counts[what]!, limit);
      if (shift && shift.logP < (best?.logP ?? 0)) best = { what, ...shift };
    }
    return best;
  }
}

/** Shares of all values, from above and from below, in which a window may have too many. */
export const SHARES = [0.5, 0.25, -0.25] as const;

/** Values of which only the order counts. */
export class RankSeries {
  readonly #values: number[] = [];
  /** The same values in their order. */
  readonly #sorted: number[] = [];

  get length(): number {
    return this.#values.length;
  }

  push(value: number): void {
    this.#values.push(value);
    this.#sorted.splice(placeIn(this.#sorted, value), 0, value);
  }

  /** `what` is a place in {@link SHARES}. @param limit of each share and direction, a logarithm */
  compare(drawn: number, limit: number): Shift | undefined {
    const all = this.#values.length;
    let best: Shift | undefined;
    for (const [what, share] of SHARES.entries()) {
      const at = Math.floor(share > 0 ? all * (1 - share) : all * -share);
      const threshold = this.#sorted[at]!;
      // Counted strictly on one side: equal values are on the other one, in the window and before it.
      const marked = share > 0 ? all - placeAfter(this.#sorted, threshold) : placeIn(this.#sorted, threshold);
      let found = 0;
      for (let i = all - drawn; i < all; i++)
        if (share > 0 ? this.#values[i]! > threshold : this.#values[i]! < threshold) found++;
      if (marked === 0) continue;
      const shift = shiftOf(all, marked, drawn, found, limit);
      if (shift && shift.logP < (best?.logP ?? 0)) best = { what, ...shift };
    }
    return best;
  }
}

/** The first place at which a value is not below the given one. */
function placeIn(sorted: readonly number[], value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The first place at which a value is above the given one. */
function placeAfter(sorted: readonly number[], value: number): number {
  let at = placeIn(sorted, value);
  while (at < sorted.length && sorted[at] === value) at++;
  return at;
}
