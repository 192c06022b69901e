/** Capture: the operator sees what chosen calls asked and got. */
import type { Feature } from "../../feature/feature.ts";
import { captured } from "./columns.ts";
import { bodies, body } from "./flags.ts";
import { captureHeader } from "./headers.ts";
import { captureSection } from "./section.ts";

export const capture: Feature = {
  name: "capture",
  section: captureSection,
  columns: [captured],
  headers: [captureHeader],
  flags: [
    { ...body, of: "logs", after: "--call", shows: captured.name, run: () => import("./show.ts") },
    { ...bodies, of: "store prune", after: "--key", run: () => import("./prune.ts") },
  ],
  tables: () => import("./tables.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
  admin: () => import("./admin.ts"),
};
