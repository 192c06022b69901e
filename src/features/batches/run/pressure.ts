/** Whether the process of a worker is busy: its timers fire late then, and calls of clients wait. */

/** Milliseconds between two looks. */
const LOOK_MS = 25;
/** A timer that fires this much late. Milliseconds. */
const LATE_MS = 15;
/** Longest wait of a line: batches go on slowly under lasting load. Milliseconds. */
const LONGEST_MS = 2_000;

export class Pressure {
  #timer: ReturnType<typeof setInterval> | undefined;
  #due = 0;
  #isBusy = false;

  /** Looks from now on. */
  watch(): void {
    if (this.#timer) return;
    this.#due = performance.now() + LOOK_MS;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#isBusy = now - this.#due >= LATE_MS;
      this.#due = now + LOOK_MS;
    }, LOOK_MS);
    this.#timer.unref();
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isBusy = false;
  }

  /** Resolves when the process has time, after some seconds in any case. */
  async pass(signal: AbortSignal): Promise<void> {
    for (let waited = 0; this.#isBusy && !signal.aborted && waited < LONGEST_MS; waited += LOOK_MS)
      await Bun.sleep(LOOK_MS);
  }
}
