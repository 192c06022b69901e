/** How old the shipped price book is. */
import { snapshotDate } from "./snapshot-date.ts" with { type: "macro" };

/** An older price book may lack models and have prices of the past. Days. */
export const OLD_DAYS = 60;

const DAY_MS = 86_400_000;

/** Days since the import. @param now milliseconds since 1970 */
export function priceBookDays(now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(snapshotDate())) / DAY_MS));
}
