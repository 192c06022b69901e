/** What weir counts of alerts. */
import { counter } from "../../core/metric.ts";

export const alertsSent = counter(
  "weir_alerts_sent_total",
  ["result"],
  "Alerts to webhooks: delivered or lost.",
);
