/** The messages by which workers hold rows of features' tables. */
import type { SqlRow } from "./store/sql.ts";

/** The channel of the keeper that carries them. The name of a feature has no colon. */
export const REPLICAS = "weir:replicas";

/** Rows of a table. Each message of a table has the next number. */
export interface ReplicaDown {
  table: string;
  number: number;
  /** All rows of the table, not only those that have changed. */
  isAll?: true;
  rows: readonly SqlRow[];
  /** Ids of rows that were deleted. */
  deleted: readonly string[];
}

/** The worker has no rows of a table, or has missed a message: it needs all of them. */
export interface ReplicaUp {
  all: string;
}
