/** Batches: work that may wait. */
import type { Feature } from "../../feature/feature.ts";
import { batchId, batchLine } from "./columns.ts";
import { batchesCommands } from "./flags.ts";
import { batchesEnded, batchEvents, batchLines, batchLosses } from "./metrics.ts";
import { batchesSection } from "./section.ts";

export const batches: Feature = {
  name: "batches",
  section: batchesSection,
  columns: [batchId, batchLine],
  metrics: [batchLines, batchesEnded, batchLosses, batchEvents],
  commands: batchesCommands,
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
