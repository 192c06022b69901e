/** What weir counts of batches. */
import { counter } from "../../core/metric.ts";

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
