/** Pauses between attempts. */
import type { Stoppable } from "../../core/stop.ts";

const BASE_MS = 250;
const CAP_MS = 8_000;

/** Full jitter: anything between nothing and a doubling bound, so that calls that failed together do not return together. */
export function fullJitter(retry: number, random: () => number = Math.random): number {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** (retry - 1));
}

/** Fulfils after so many milliseconds, or as soon as it is stopped; whoever waits looks which. */
export function pause(ms: number, stop: Stoppable): Promise<void> {
  if (ms <= 0 || stop.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
  });
}
