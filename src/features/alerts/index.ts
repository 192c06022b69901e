/** Alerts: webhooks hear when a budget is used, a deployment fails, many calls fail, or the store cannot be used. */
import type { Feature } from "../../feature/feature.ts";
import { alertsCommands } from "./flags.ts";
import { alertsSent } from "./metrics.ts";
import { alertsSection } from "./section.ts";

export const alerts: Feature = {
  name: "alerts",
  section: alertsSection,
  metrics: [alertsSent],
  commands: alertsCommands,
  worker: () => import("./worker.ts"),
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
  keeper: () => import("./keeper.ts"),
};
