/** The tables of tools in the store of the books. */
import type { FeatureTables } from "../../keeper/seams.ts";
import { PINS, PINS_REPLICA, PINS_TABLES } from "./pins/rows.ts";

export const tables: FeatureTables = {
  migrations: [PINS],
  copied: PINS_TABLES,
  recovered: PINS_TABLES,
  replicas: [PINS_REPLICA],
};
