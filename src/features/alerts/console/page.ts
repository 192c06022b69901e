/** The page of alerts in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/alerts", title: "Alerts", icon: "alerts" },
  load: async () => (await import("./alerts-page.tsx")).AlertsPage,
};
