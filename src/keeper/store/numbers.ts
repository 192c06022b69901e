/**
 * Numbers of calls: `(milliseconds since 2025-01-01) × 4096 + counter`, 53 bits. They are given at the commit and only
 * increase, so calls lie in the order of their commits, and a reader that continues after a number misses none.
 */
export const FIRST_MS = Date.UTC(2025, 0, 1);
export const STEPS = 4096;
/** Nodes of one store count in steps of this size, each with a remainder of its own, and never give the same number. */
export const NODES = 64;

/** The smallest number of a moment. @param ms milliseconds since 1970 */
export function firstNumber(ms: number): number {
  return Math.max(0, Math.floor(ms) - FIRST_MS) * STEPS;
}

/** When a number was given. Milliseconds since 1970. */
export function timeOf(number: number): number {
  return Math.floor(number / STEPS) + FIRST_MS;
}

export class Numbers {
  readonly #node: number;
  #last: number;

  /** @param last the largest number that is taken @param node 0 to 63 */
  constructor(last: number, node = 0) {
    this.#node = node;
    this.#last = last - (last % NODES) + node;
  }

  /** @param now milliseconds since 1970 */
  next(now: number): number {
    this.#last = Math.max(this.#last + NODES, firstNumber(now) + this.#node);
    return this.#last;
  }
}
