/** The tables of the books that have a version of their own, as those of features. */
import type { NamedTables } from "../seams.ts";
import { PROOF_TABLES } from "../proof/tables.ts";
import { CONSOLE_TABLES } from "./console-tables.ts";

export const OWN_TABLES: readonly NamedTables[] = [CONSOLE_TABLES, PROOF_TABLES];
