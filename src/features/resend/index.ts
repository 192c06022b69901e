/** Send again: the operator sends a captured call once more, as it was or to other models. */
import type { Feature } from "../../feature/feature.ts";
import { replayOf } from "./columns.ts";

export const resend: Feature = {
  name: "resend",
  columns: [replayOf],
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
  admin: () => import("./admin.ts"),
};
