/** Batches: work that may wait. */
import type { Feature } from "../../feature/feature.ts";
import { batchId, batchLine } from "./columns.ts";
import { batchesCommands } from "./flags.ts";
import { batchesEnded, batchLines } from "./metrics.ts";
import { batchesSection } from "./section.ts";

export const batches: Feature = {
  name: "batches",
  section: batchesSection,
<<<<<<< HEAD
  columns: [batchId, batchLine],
=======
  columns: [batchLine],
  metrics: [batchLines, batchesEnded],
>>>>>>> 2d782f33 (batches: count lines and batches that have ended)
  commands: batchesCommands,
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
