/** Witness: looks at models on a schedule, and says whether a provider changed or weir's own config. */
import type { Feature } from "../../feature/feature.ts";
import { witnessCommands } from "./flags.ts";
import { witnessChanges, witnessLooks } from "./metrics.ts";
import { witnessSection } from "./section.ts";

export const witness: Feature = {
  name: "witness",
  section: witnessSection,
  metrics: [witnessChanges, witnessLooks],
  commands: witnessCommands,
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
