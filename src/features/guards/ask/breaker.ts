/** A circuit breaker: a service that fails again and again is left alone for a while, so that calls do not wait for it. */

/** Failures in a row that open it. */
const FAILURES = 5;
/** How long it stays open before one question tries again. Milliseconds. */
const PAUSE_MS = 10_000;

export class Breaker {
  #failures = 0;
  #opensAt = 0;
  #isTrying = false;

  /** Call one of the other methods after each question that it admits. @param now monotonic milliseconds */
  admits(now: number): boolean {
    if (this.#failures < FAILURES) return true;
    if (this.#isTrying || now < this.#opensAt) return false;
    return (this.#isTrying = true);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#isTrying = false;
  }

  failed(now: number): void {
    this.#failures++;
    this.#isTrying = false;
    this.#opensAt = now + PAUSE_MS;
  }

  /** The question ended without evidence. */
  released(): void {
    this.#isTrying = false;
  }
}
