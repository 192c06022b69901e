/** Pauses between attempts. */
import type { Stoppable } from "../../core/stop.ts";

const BASE_MS = 250;
const CAP_MS = 8_000;

/**
 * Exponential backoff with full jitter: a random time between 0 and a bound that doubles with each retry, so that calls that
 * failed together do not retry together. @param retry from 1 on @returns milliseconds
 */
export function fullJitter(retry: number, random: () => number = Math.random): number {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** (retry - 1));
}

/** Waits, at most until `stop` aborts. It never rejects: the caller checks whether the call was aborted. */
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
