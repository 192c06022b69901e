/** Realtime: sessions of speech and text over a WebSocket, with a hold and a record for each answer. */
import type { Feature } from "../../feature/feature.ts";
import { realtimeSection } from "./section.ts";

export const realtime: Feature = {
  name: "realtime",
  section: realtimeSection,
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
