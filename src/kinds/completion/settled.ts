/** Counts of an answer that has ended. */
import type { Usage } from "../../core/events.ts";

/** Running totals that include output are final when the answer has ended. */
export function settledUsage(usage: Usage): Usage {
  return usage.known === "partial" && usage.output > 0 ? { ...usage, known: "final" } : usage;
}
