/** The columns of this build. */
import { Columns } from "../core/column.ts";
import { LEDGER_COLUMNS } from "../ledger/columns.ts";
import { RECORD_MEMBERS } from "../ledger/record.ts";

export const COLUMNS = new Columns(LEDGER_COLUMNS, RECORD_MEMBERS);
