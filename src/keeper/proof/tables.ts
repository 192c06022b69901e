/**
 * What of the books is proven: the sums of all rows up to a call. They have a version of their own, as tables of features have, so
 * that an earlier version of weir opens the store as before; it writes rows, and the next proof finds them behind that call.
 */
import { HOUR_SUMS } from "./rows.ts";
import type { NamedTables } from "../seams.ts";

const sums = HOUR_SUMS.map((column) => `${column} {INT} NOT NULL`).join(", ");

const FIRST = `
-- One row. number: the newest call that is in the sums. at, full_at: of the last proof and of the last one of all rows; calls:
-- proven between them. log_entries, log_id, log_hash: of the audit log. report: JSON, of the proof of all rows.
CREATE TABLE proof (id {INT} PRIMARY KEY, number {INT} NOT NULL, at {INT} NOT NULL, calls {INT} NOT NULL, ms {INT} NOT NULL, full_at {INT} NOT NULL,
  full_ms {INT} NOT NULL, log_entries {INT} NOT NULL, log_id {INT} NOT NULL, log_hash TEXT, report TEXT NOT NULL) {KEYED};
CREATE TABLE proof_hours (hour {INT} PRIMARY KEY, ${sums}) {KEYED};
CREATE TABLE proof_accounts (account TEXT PRIMARY KEY, spent {INT} NOT NULL, assumed {INT} NOT NULL, overrun {INT} NOT NULL) {KEYED};
`;

export const PROOF_TABLES: NamedTables = {
  feature: "proof",
  tables: {
    migrations: [FIRST],
    copied: [],
    // The calls of a removed key leave the sums: the next proof reads all rows.
    forget: async (sql) => void (await sql.run("DELETE FROM proof")),
  },
};
