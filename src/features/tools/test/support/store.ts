/** The store of the books in memory, with the tables of the feature, as the part in the keeper uses it. */
import type { KeeperHost } from "../../../../keeper/seams.ts";
import { IN_MEMORY } from "../../../../keeper/settings.ts";
import type { Sql } from "../../../../keeper/store/sql.ts";
import { openSqlite } from "../../../../keeper/store/sqlite.ts";
import { tables } from "../../tables.ts";

export interface TestStore {
  readonly sql: Sql;
  readonly host: Pick<KeeperHost, "read" | "write" | "change" | "settled" | "report" | "note">;
  /** Entries of the audit log: what happened, to what, and the values after. */
  readonly audit: string[];
  /** What was logged. */
  readonly log: string[];
}

export function openStore(): TestStore {
  return hostOn(openSqlite(IN_MEMORY, undefined, [{ feature: "tools", tables }]));
}

/** The same on a store that is open. */
export function hostOn(sql: Sql): TestStore {
  const audit: string[] = [];
  const log: string[] = [];
  let version = 0;
  return {
    ...{ sql, audit, log },
    host: {
      read: (work) => work(sql),
      write: (work) => sql.transaction(work),
      change: (_, action, subject, work) =>
        sql.transaction(async (inner) => {
          const { after } = await work(inner, ++version);
          audit.push(`${action} ${subject} ${JSON.stringify(after)}`);
        }),
      note: async (_, action, subject, facts) =>
        void audit.push(`${action} ${subject} ${JSON.stringify(facts)}`),
      settled: async () => true,
      report: (sentence) => void log.push(sentence),
    },
  };
}
