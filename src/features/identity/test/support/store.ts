/** The store of the books in memory, with the tables of the feature, as parts in the keeper use it. */
import type { Envelope } from "../../../../core/envelope.ts";
import type { KeeperHost } from "../../../../keeper/seams.ts";
import type { Sql } from "../../../../keeper/store/sql.ts";
import { openSqlite } from "../../../../keeper/store/sqlite.ts";
import { IN_MEMORY } from "../../../../keeper/settings.ts";
import { tables } from "../../tables.ts";

export interface TestStore {
  readonly sql: Sql;
  readonly host: Pick<KeeperHost, "read" | "write" | "change" | "settled" | "note" | "report" | "envelope">;
  /** Entries of the audit log: what happened, and to what. */
  readonly audit: string[];
  /** What was logged. */
  readonly log: string[];
}

/** @param envelope the key of the store, if it has one */
export function openStore(envelope?: Envelope): TestStore {
  const sql = openSqlite(IN_MEMORY, undefined, [{ feature: "identity", tables }]);
  const [audit, log]: string[][] = [[], []];
  let version = 0;
  return {
    ...{ sql, audit: audit!, log: log! },
    host: {
      envelope: () => envelope,
      read: (work) => work(sql),
      write: (work) => sql.transaction(work),
      change: (_, action, subject, work) =>
        sql.transaction(async (inner) => {
          await work(inner, ++version);
          audit!.push(`${action} ${subject}`);
        }),
      note: async (_, action, subject) => void audit!.push(`${action} ${subject}`),
      settled: async () => true,
      report: (sentence) => void log!.push(sentence),
    },
  };
}
