/** How many lines of one model run at the same time: fewer when its provider says that it is busy, more with its answers. */

/** What the limit rises by while as many lines as it permits end without a busy provider. */
const RISE = 1;

export class Lane {
  /** Lines that run. */
  running = 0;
  /** The deployment and model that answered last: see {@link targetOf} of traffic.ts. */
  target: string | undefined;
  /** How many lines the deployment permits. */
  room = Infinity;
  #most: number;
  #limit: number;
  /** Lines that still end before the limit may fall again: they began before it fell. */
  #calm = 0;
  /** Monotonic milliseconds. */
  #closedUntil = 0;

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** A reload changes it. */
  set most(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  get limit(): number {
    return Math.max(1, Math.min(this.room, Math.floor(this.#limit)));
  }

  /** Nothing about the lane differs from a new one. */
  get isFresh(): boolean {
    return this.running === 0 && this.#limit === this.#most;
  }

  /** Milliseconds for which its provider wants no calls. @param now monotonic milliseconds */
  waitAt(now: number): number {
    return Math.max(0, this.#closedUntil - now);
  }

  /** A line has ended, and its provider was not busy. */
  rises(): void {
    this.#ended();
    this.#limit = Math.min(this.#most, this.#limit + RISE / this.#limit);
  }

  /** A line has ended because its provider was busy. @param until monotonic milliseconds before which it wants no calls */
  falls(until: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, until);
    // Once for all lines that run now: what they say is one fact.
    if (this.#calm === 0) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#calm = this.running;
    }
    this.#ended();
  }

  #ended(): void {
    this.#calm = Math.max(0, this.#calm - 1);
  }
}
