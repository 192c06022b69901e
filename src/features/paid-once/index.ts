/** Paid once: a client that repeats a request whose connection broke gets the first answer, and the provider is asked once. */
import type { Feature } from "../../feature/feature.ts";
import { leftByClient, paidBy } from "./columns.ts";
import { paidOnceSection } from "./section.ts";

export const paidOnce: Feature = {
  name: "paid-once",
  section: paidOnceSection,
  columns: [paidBy, leftByClient],
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
