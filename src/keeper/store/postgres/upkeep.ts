/** Services of a PostgreSQL store besides the books. Copies and checks are a matter of the server. */
import { AdminError } from "../../../operator/errors.ts";
import type { Keep } from "../../../ledger/keep.ts";
import type { Upkeep } from "../upkeep.ts";
import { removeKey } from "../../record/deletion.ts";
import { countKey, keptOf, type Pruned, type PruneRequest } from "../../record/due.ts";
import { writeAudit } from "../audit-log.ts";
import { Reports } from "../../reports/reports.ts";
import { timeOf } from "../numbers.ts";
import type { Actor } from "../store.ts";
import type { ClusterStore } from "./cluster-store.ts";
import { Postgres } from "./driver.ts";
import { ServerRetention } from "./retention.ts";

/** A report may read for a long time. A query of the books that takes so long means that the store is lost. Milliseconds. */
const REPORT_MS = 60_000;
/** Between two slices of rows that are deleted: calls go on meanwhile. Milliseconds. */
const PAUSE_MS = 20;

export class ServerUpkeep implements Upkeep {
  readonly reports: Reports;
  readonly #store: ClusterStore;
  readonly #url: string;
  /** Reports stop no grant: they have connections of their own. */
  readonly #sql: Postgres;
  readonly #retention: ServerRetention;

  constructor(store: ClusterStore, url: string) {
    this.#store = store;
    this.#url = url;
    this.#sql = new Postgres(url, { queryMs: REPORT_MS, connections: 2 });
    this.reports = new Reports(this.#sql, this.#sql, undefined, undefined, store.tables);
    this.#retention = new ServerRetention(this.#sql, undefined, store.tables);
  }

  get spooled(): number {
    return this.#store.spooled.commits;
  }

  /** The number of calls is the server's estimate. */
  async info() {
    const [row] = await this.#sql.all<{ bytes: number; calls: number; oldest: number | null }>(
      `SELECT pg_database_size(current_database()) AS bytes,
         (SELECT CAST(coalesce(sum(greatest(reltuples, 0)), 0) AS bigint) FROM pg_inherits
          JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'calls'::regclass) AS calls,
         (SELECT min(number) FROM calls) AS oldest`,
    );
    const { host, pathname } = new URL(this.#url);
    return {
      kind: "postgres" as const,
      // Without the password.
      place: `postgres://${host}${pathname}`,
      bytes: row!.bytes,
      calls: row!.calls,
      ...(row!.oldest !== null && { oldestCall: timeOf(row!.oldest) }),
      ...(this.reports.auditing && { auditing: this.reports.auditing }),
    };
  }

  keep(settings: Keep): void {
    this.#retention.keep = settings;
  }

  backup(): Promise<never> {
    return Promise.reject(ofServer("Make copies with pg_dump or the tools of your server."));
  }

  check(): Promise<never> {
    return Promise.reject(ofServer("Check the database with the tools of your server."));
  }

  /** Deletes the calls of a key. Their sums stay. @param what with `dryRun` rows are only counted */
  async prune({ key, dryRun }: PruneRequest, actor: Actor): Promise<Pruned> {
    if (key === undefined)
      throw ofServer(
        "weir deletes old rows by itself, by dropping partitions; name a key to delete its rows.",
      );
    if (dryRun) return (await countKey(this.#sql, key, keptOf(this.#store.tables))).measured(this.#sql);
    const pruned = await removeKey(this.#sql, key, () => Bun.sleep(PAUSE_MS), this.#store.tables);
    await this.#sql.transaction((sql) =>
      writeAudit(sql, Date.now(), actor, "prune", `keys/${key}`, null, { rows: pruned.rows }),
    );
    return pruned;
  }

  release(): Promise<never> {
    return Promise.reject(ofServer("Only a file that was recovered closes its budgets."));
  }

  openKeys(): Promise<never> {
    return Promise.reject(ofServer("Its gateways stay closed once one of them has had a key."));
  }

  async close(): Promise<void> {
    this.#retention.stop();
    await this.#sql.close();
  }
}

function ofServer(sentence: string): AdminError {
  return new AdminError(501, "not_supported", `The store is a PostgreSQL server. ${sentence}`);
}
