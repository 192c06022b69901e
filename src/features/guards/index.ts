/** Guards: what may not leave is replaced, refused or noted, in requests and answers of all formats, streamed or not. */
import type { Feature } from "../../feature/feature.ts";
import { guardFacts } from "./columns.ts";
import { guardsCommands } from "./flags.ts";
import { guardHeaders } from "./headers.ts";
import { addedGuards } from "./key-options.ts";
import { GUARD_METRICS } from "./metrics.ts";
import { guardsSection } from "./section.ts";

export const guards: Feature = {
  name: "guards",
  section: guardsSection,
  columns: [guardFacts],
  headers: guardHeaders,
  keyOptions: [addedGuards],
  metrics: GUARD_METRICS,
  commands: guardsCommands,
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
  worker: () => import("./worker.ts"),
  foresee: () => import("./explain.ts"),
  keeper: () => import("./keeper.ts"),
  check: () => import("./check.ts"),
};
