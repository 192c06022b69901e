/** Time as the books use it, so that tests can turn it. */
import { WALL_CLOCK, type WallClock } from "../../core/wall-clock.ts";

export interface BooksClock extends WallClock {
  /** Milliseconds that never decrease. */
  monotonic(): number;
}

export const SYSTEM_CLOCK: BooksClock = { ...WALL_CLOCK, monotonic: () => performance.now() };
