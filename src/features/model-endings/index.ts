/** Model endings: models that the config names, and that their provider turns off soon or has turned off. */
import type { Feature } from "../../feature/feature.ts";

export const modelEndings: Feature = {
  name: "model-endings",
  worker: () => import("./worker.ts"),
  check: () => import("./check.ts"),
};
