/**
 * How many calls may be repeating themselves at a time: a fifth of those that run, and never fewer than three.
 * Without it an upstream in trouble is sent more than it was before. Those that wait long because an
 * upstream said so have as many places of their own, so that they do not take them from those that go elsewhere at once.
 */
const SHARE = 0.2;
const LEAST = 3;
/** A longer wait is a long one. Milliseconds. */
const LONG_MS = 1_000;

/** A place in the budget, to be given back. */
export type RetrySlot = "soon" | "later";

export class RetryBudget {
  #running = 0;
  readonly #taken: Record<RetrySlot, number> = { soon: 0, later: 0 };

  get running(): number {
    return this.#running;
  }

  /** A call begins. */
  enter(): void {
    this.#running++;
  }

  /** It ended. */
  leave(): void {
    this.#running--;
  }

  /** A place for a call that wants to repeat itself after so many milliseconds; nothing when there is none left. */
  take(waitMs: number): RetrySlot | undefined {
    const place = waitMs > LONG_MS ? "later" : "soon";
    if (this.#taken[place] >= Math.max(LEAST, Math.floor(this.#running * SHARE))) return undefined;
    this.#taken[place]++;
    return place;
  }

  give(place: RetrySlot): void {
    this.#taken[place]--;
  }
}
