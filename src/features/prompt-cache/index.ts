/** Prompt cache: why a provider did not read a prompt from its cache, and what that cost. */
import type { Feature } from "../../feature/feature.ts";

export const promptCache: Feature = {
  name: "prompt-cache",
  worker: () => import("./worker.ts"),
  tables: () => import("./tables.ts"),
  admin: () => import("./admin.ts"),
};
