/** `weir metrics dashboard`: a Grafana dashboard and alert rules of the metrics. */
import { alertRules, dashboard } from "../../keeper/metrics/dashboard.ts";
import type { Command } from "../command.ts";

export const metricsDashboard: Command = {
  name: "metrics dashboard",
  summary: "print a Grafana dashboard for the metrics at /metrics of the admin listener",
  words: [],
  flags: [{ name: "--alerts", help: "print alert rules for Prometheus instead" }],
  run({ flags, print }) {
    print(JSON.stringify(flags["--alerts"] ? alertRules() : dashboard(), null, 2));
    return Promise.resolve(0);
  },
};
