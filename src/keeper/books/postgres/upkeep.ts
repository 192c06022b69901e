/** What a PostgreSQL store offers besides the books. Copies and checks are a matter of the server. */
import { AdminError } from "../../../admin/errors.ts";
import type { Upkeep } from "../node-admin.ts";
import { Reports } from "../reports/reports.ts";
import type { Sql } from "../sql.ts";
import type { ClusterStore } from "./cluster-store.ts";

export class ServerUpkeep implements Upkeep {
  readonly #store: ClusterStore;
  readonly #url: string;
  #reports: { of: Sql; reports: Reports } | undefined;

  constructor(store: ClusterStore, url: string) {
    this.#store = store;
    this.#url = url;
  }

  get reports(): Reports {
    const { sql } = this.#store;
    if (this.#reports?.of !== sql) this.#reports = { of: sql, reports: new Reports(sql, sql) };
    return this.#reports.reports;
  }

  get spooled(): number {
    return this.#store.spooled.commits;
  }

  async info() {
    const [row] = await this.#store.sql.all<{ bytes: number; calls: number; oldest: number | null }>(
      `SELECT pg_database_size(current_database())::float8 AS bytes, count(*)::float8 AS calls,
       min(at)::float8 AS oldest FROM calls`,
    );
    const { host, pathname } = new URL(this.#url);
    return {
      kind: "postgres" as const,
      // Without the password.
      place: `postgres://${host}${pathname}`,
      bytes: row!.bytes,
      calls: row!.calls,
      ...(row!.oldest !== null && { oldestCall: row!.oldest }),
    };
  }

  backup(): Promise<never> {
    return Promise.reject(ofServer("Make copies with pg_dump or the tools of your server."));
  }

  check(): Promise<never> {
    return Promise.reject(ofServer("Check the database with the tools of your server."));
  }

  prune(): Promise<never> {
    return Promise.reject(ofServer("weir deletes old rows by itself, by dropping partitions."));
  }

  release(): Promise<never> {
    return Promise.reject(ofServer("Only a file that was recovered closes its budgets."));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function ofServer(sentence: string): AdminError {
  return new AdminError(501, "not_supported", `The store is a PostgreSQL server. ${sentence}`);
}
