/** The page of batches in the console. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/batches", title: "Batches", icon: "store" },
  load: async () => (await import("./batches-page.tsx")).BatchesPage,
};
