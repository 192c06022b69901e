/**
 * The retry budget: at most a fifth of the running calls may be in a retry at a time; three are always allowed. Without it,
 * retries would add load to a provider that already fails. Retries with a long wait (a provider's `retry-after`) have a
 * budget of the same size of their own, so that they do not block retries that go to another deployment at once.
 */
const SHARE = 0.2;
const ALWAYS_ALLOWED = 3;
/** Waits above this use the budget for long waits. Milliseconds. */
const LONG_WAIT_MS = 1_000;

/** A unit of the budget: for a short or a long wait. {@link RetryBudget.release} returns it. */
export type RetrySlot = "short" | "long";

export class RetryBudget {
  #running = 0;
  readonly #taken: Record<RetrySlot, number> = { short: 0, long: 0 };

  get running(): number {
    return this.#running;
  }

  /** A call begins. */
  enter(): void {
    this.#running++;
  }

  /** A call ends. */
  leave(): void {
    this.#running--;
  }

  /** A slot for a retry after `waitMs` milliseconds; `undefined` if the budget is used up. */
  take(waitMs: number): RetrySlot | undefined {
    const slot = waitMs > LONG_WAIT_MS ? "long" : "short";
    if (this.#taken[slot] >= Math.max(ALWAYS_ALLOWED, Math.floor(this.#running * SHARE))) return undefined;
    this.#taken[slot]++;
    return slot;
  }

  release(slot: RetrySlot): void {
    this.#taken[slot]--;
  }
}
