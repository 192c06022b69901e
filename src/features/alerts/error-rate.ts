/** The share of calls that failed in the last five minutes. */
import type { CallRecord } from "../../ledger/record.ts";

const BUCKET_MS = 30_000;
const BUCKETS = 10;
/** Fewer calls say nothing. */
const MIN_CALLS = 20;

/** Length of the window, milliseconds. */
export const WINDOW_MS = BUCKET_MS * BUCKETS;

/** Whether a call failed by no fault of its client. Rate limits of providers count, those of weir do not. */
export function hasFailed({ outcome, refused, status }: CallRecord): boolean {
  if (outcome !== "failed" || refused !== undefined) return false;
  return status < 400 || status === 429 || status >= 500;
}

export class ErrorRate {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({ slot: -1, calls: 0, failed: 0 }));

  /** @param now milliseconds since 1970 */
  add(failed: boolean, now: number): void {
    const slot = Math.floor(now / BUCKET_MS);
    const bucket = this.#buckets[slot % BUCKETS]!;
    if (bucket.slot !== slot) Object.assign(bucket, { slot, calls: 0, failed: 0 });
    bucket.calls++;
    if (failed) bucket.failed++;
  }

  /** @returns undefined for too few calls */
  at(now: number): { calls: number; failed: number; share: number } | undefined {
    const oldest = Math.floor(now / BUCKET_MS) - BUCKETS + 1;
    let calls = 0;
    let failed = 0;
    for (const bucket of this.#buckets) {
      if (bucket.slot < oldest) continue;
      calls += bucket.calls;
      failed += bucket.failed;
    }
    return calls < MIN_CALLS ? undefined : { calls, failed, share: failed / calls };
  }
}
