/** Time as the books use it, so that tests can turn it. */

export interface BooksClock {
  /** Milliseconds since 1970, by the system's clock, which may jump. */
  wall(): number;
  /** Milliseconds that never decrease. */
  monotonic(): number;
  /** Runs something once after a time. @returns function that cancels it */
  after(ms: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: BooksClock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
