/** Traces: a collector of OpenTelemetry gets a span of each call and of each attempt, and histograms. */
import type { Feature } from "../../feature/feature.ts";
import { traceFacts } from "./columns.ts";
import { spansTotal } from "./metrics.ts";
import { tracesSection } from "./section.ts";

export const traces: Feature = {
  name: "traces",
  section: tracesSection,
  columns: [traceFacts],
  metrics: [spansTotal],
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
