/** Files: clients keep files in weir, in the APIs of three vendors. */
import type { Feature } from "../../feature/feature.ts";
import { filesCommands } from "./flags.ts";
import { filesSection } from "./section.ts";

export const files: Feature = {
  name: "files",
  section: filesSection,
  commands: filesCommands,
  tables: () => import("./tables.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
  admin: () => import("./admin.ts"),
};
