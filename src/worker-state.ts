/** Tells the keeper once a second what this worker does: for metrics. */
import type { Health } from "./gateway/retry/health.ts";
import type { WorkerLedger } from "./ledger/worker/ledger.ts";

const EVERY_MS = 1000;

/** @returns a function that ends it */
export function reportState(ledger: WorkerLedger, health: Health): () => void {
  let due = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    const loopLag = Math.max(0, now - due) / 1000;
    due = now + EVERY_MS;
    ledger.report({ breakers: health.breakers(now), memory: process.memoryUsage.rss(), loopLag });
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
