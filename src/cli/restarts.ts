/** How long the supervisor waits before it starts a worker again: longer with each recent failure. */

/** Time in which a failure soon after the start counts as recent. Milliseconds. */
const RECENT_MS = 10_000;
/** Delay before the first restart, doubled with each recent failure. Milliseconds. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export class Restarts {
  /** When workers ended soon after their start, or could not be started; monotonic milliseconds. */
  #failures: number[] = [];

  addFailure(): void {
    this.#failures = [...this.#recent(), performance.now()];
  }

  /** Milliseconds. */
  get pause(): number {
    return Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, this.#recent().length - 1));
  }

  #recent(): number[] {
    const now = performance.now();
    return this.#failures.filter((at) => now - at < RECENT_MS);
  }
}
