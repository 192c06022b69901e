/**
 * How many calls may be repeating themselves at a time: a fifth of those that run, and never fewer than three
 * (`runtime.md` 4.5). Without it an upstream in trouble is sent more than it was before.
 */
const SHARE = 0.2;
const LEAST = 3;

export class RetryBudget {
  #running = 0;
  #repeating = 0;

  get running(): number {
    return this.#running;
  }

  get repeating(): number {
    return this.#repeating;
  }

  /** A call begins. */
  enter(): void {
    this.#running++;
  }

  /** It ended. */
  leave(): void {
    this.#running--;
  }

  /** A place for a call that wants to repeat itself; false when there is none left. */
  take(): boolean {
    if (this.#repeating >= Math.max(LEAST, Math.floor(this.#running * SHARE))) return false;
    this.#repeating++;
    return true;
  }

  give(): void {
    this.#repeating--;
  }
}
