/** What weir counts of batches. */
import { counter } from "../../core/metric.ts";

export const batchLines = counter(
  "weir_batch_lines_total",
  ["outcome"],
  "Lines of batches that have ended: done, failed, cancelled or late.",
);
export const batchEvents = counter(
  "weir_batch_events_total",
  ["result"],
  "Ends of batches for the webhook: delivered or lost.",
);
export const batchLosses = counter(
  "weir_batch_losses_total",
  ["code"],
  "Parts of answers of batches that the format of their reader could not carry, each time that they are read.",
);
export const batchesEnded = counter(
  "weir_batches_total",
  ["status"],
  "Batches that have ended: done, refused, stopped (cancelled) or late.",
);
