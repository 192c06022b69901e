/** What weir counts of batches. */
import { counter } from "../../core/metric.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import { type Batch, type Ending, isEnd } from "./batch.ts";

export const batchLines = counter(
  "weir_batch_lines_total",
  ["outcome"],
  "Lines of batches that have ended: done, failed, cancelled or late.",
);
export const batchesEnded = counter(
  "weir_batches_total",
  ["status"],
  "Batches that have ended: done, refused, stopped (cancelled) or late.",
);

const ENDINGS: readonly Ending[] = ["done", "failed", "cancelled", "late"];

/** Counts what has ended between two rows of a batch. */
export function countChange(count: KeeperHost["count"], before: Batch, after: Batch): void {
  for (const ending of ENDINGS) {
    const more = after[ending] - before[ending];
    if (more > 0) count(batchLines, [ending], more);
  }
  if (isEnd(after.state) && !isEnd(before.state)) count(batchesEnded, [after.state], 1);
}
