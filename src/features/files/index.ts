/** Files: clients keep files in weir, in the APIs of three vendors. */
import type { Feature } from "../../feature/feature.ts";
import { filesSection } from "./section.ts";

export const files: Feature = {
  name: "files",
  section: filesSection,
  tables: () => import("./tables.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
