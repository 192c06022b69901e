/** Metrics of outlines. */
import { counter } from "../../core/metric.ts";

export const outlines = counter(
  "weir_outlines_total",
  ["outcome"],
  "Outlines of calls for `weir rehearse`: `kept`, `busy` (the time that `rehearse.share` allows was used up), `unread` (a request that weir cannot outline), `lost` (the keeper was away).",
);
