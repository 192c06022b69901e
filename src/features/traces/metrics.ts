/** What weir counts of spans. */
import { counter } from "../../core/metric.ts";

export const spansTotal = counter(
  "weir_spans_total",
  ["result"],
  "Spans of traces: exported, dropped or refused.",
);
