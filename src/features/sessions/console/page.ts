/** The pages of sessions in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/sessions", title: "Sessions", icon: "sessions" },
  load: async () => (await import("./sessions-page.tsx")).SessionsPage,
};
