/** The page of tools in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/tools", title: "Tools", icon: "tools" },
  load: async () => (await import("./tools-page.tsx")).ToolsPage,
};
