/** The tables of tools in the store of the books. */
import type { FeatureTables } from "../../keeper/seams.ts";
import { SETS, SETS_COMMIT, SETS_KEPT, SETS_TABLE } from "./cost/rows.ts";
import { PINS, PINS_REPLICA, PINS_TABLES } from "./pins/rows.ts";
import { SEAL, SEAL_TABLE, SEALED_KEY } from "./seal/row.ts";

const TABLES = [...PINS_TABLES, SEAL_TABLE, SETS_TABLE];

export const tables: FeatureTables = {
  migrations: [PINS, SEAL, SETS],
  copied: TABLES,
  recovered: TABLES,
  sealed: [SEALED_KEY],
  replicas: [PINS_REPLICA],
  commit: SETS_COMMIT,
  kept: [SETS_KEPT],
};
