/** Calls that may wait. */
import { Slot } from "./slot.ts";

/** Set on a call before its first attempt: it leaves some of the concurrent calls of a deployment to others. */
export const isBackground = new Slot<true>();

/** The share of a concurrency limit that they may fill: the next call of a client finds room. */
const SHARE = 0.75;

/** How many of the calls in flight at a deployment may be there when one of them begins. @param concurrency its limit */
export function mostInBackground(concurrency: number): number {
  return Math.max(1, Math.floor(concurrency * SHARE));
}
