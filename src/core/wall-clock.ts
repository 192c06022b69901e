/** Time for what waits and repeats, so that tests can turn it. */
export interface WallClock {
  /** Milliseconds since 1970, by the system's clock, which may jump. */
  wall(): number;
  /** Runs something once after a time. @returns function that cancels it */
  after(ms: number, run: () => void): () => void;
}

export const WALL_CLOCK: WallClock = {
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
