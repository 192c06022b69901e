/** Alerts: webhooks hear when a budget is used, a deployment fails, many calls fail, or the store cannot be used. */
import type { Feature } from "../../feature/feature.ts";
import { alertsSent } from "./metrics.ts";
import { alertsSection } from "./section.ts";

export const alerts: Feature = {
  name: "alerts",
  section: alertsSection,
  metrics: [alertsSent],
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
