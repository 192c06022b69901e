/** The page of guards in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/guards", title: "Guards", icon: "guards" },
  load: async () => (await import("./guards-page.tsx")).GuardsPage,
};
