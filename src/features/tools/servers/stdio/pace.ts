/** How much of one program's output this process reads, so that a program that floods slows down itself and nothing else. */

/** Longest work at one go, after which others have their turn. Milliseconds. */
const SLICE_MS = 4;
/** Waiting for one unit at a time would take much longer, since timers are coarse. Milliseconds. */
const LEAST_MS = 20;

export interface Rate {
  /** Units that may come at once. */
  readonly burst: number;
  /** Units a second after that. */
  readonly perSecond: number;
}

export class Pace {
  readonly #rate: Rate;
  #left: number;
  #filled = performance.now();
  #began = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** A message came for which no request waits. */
  spend(units: number): void {
    this.#left -= units;
  }

  /** The reader has waited for more output. */
  begin(): void {
    this.#began = performance.now();
  }

  /** @returns undefined while the reader may go on; else it waits, and the output waits in the pipe */
  rest(): Promise<void> | undefined {
    const now = performance.now();
    if (this.#left < 0) return this.#refill(now);
    return now - this.#began < SLICE_MS ? undefined : this.#turn();
  }

  async #refill(now: number): Promise<void> {
    const { burst, perSecond } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((now - this.#filled) / 1000) * perSecond);
    this.#filled = now;
    if (this.#left < 0) {
      const ms = (-this.#left / perSecond) * 1000;
      await Bun.sleep(Math.max(LEAST_MS, Math.min(ms, 1000)));
    } else await this.#turn();
    this.begin();
  }

  async #turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await promise;
    this.begin();
  }
}
