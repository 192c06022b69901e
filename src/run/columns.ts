/** The columns of this build. */
import { Columns } from "../core/column.ts";
import { leftByClient, paidBy } from "../gateway/paid-once/columns.ts";
import { LEDGER_COLUMNS } from "../ledger/columns.ts";
import { RECORD_MEMBERS } from "../ledger/record.ts";

export const COLUMNS = new Columns([...LEDGER_COLUMNS, paidBy, leftByClient], RECORD_MEMBERS);
