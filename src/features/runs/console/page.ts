/** The page of runs in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/runs", title: "Runs", icon: "play" },
  load: async () => (await import("./runs-page.tsx")).RunsPage,
};
