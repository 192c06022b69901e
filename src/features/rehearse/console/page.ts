/** The page of rehearsals in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/rehearse", title: "Rehearse", icon: "rehearse" },
  load: async () => (await import("./rehearse-page.tsx")).RehearsePage,
};
