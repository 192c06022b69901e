/** The columns of a gateway. */
import { type Column, Columns } from "../core/column.ts";
import { LEDGER_COLUMNS } from "../ledger/columns.ts";
import { RECORD_MEMBERS } from "../ledger/record.ts";

/** The columns that every build has, and those of features. @throws Error with a sentence if a name is used twice */
export function columnsWith(own: readonly Column[]): Columns {
  return new Columns([...LEDGER_COLUMNS, ...own], RECORD_MEMBERS);
}
