/** Sessions: conversations as the operator reads them, with what each turn cost. */
import type { Feature } from "../../feature/feature.ts";

export const sessions: Feature = {
  name: "sessions",
  admin: () => import("./admin.ts"),
};
