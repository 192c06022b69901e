/** What weir counts of looks at models. */
import { counter } from "../../core/metric.ts";

export const witnessChanges = counter(
  "weir_witness_changes_total",
  ["provider", "model", "kind"],
  "Changes of providers that looks at models found, by kind.",
);

export const witnessLooks = counter(
  "weir_witness_looks_total",
  ["result"],
  "Looks of the schedule: made, failed, or left out for want of budget.",
);
