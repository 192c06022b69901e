/** Writes the rows of features for the calls of a commit. A feature that fails or is slow loses its rows, and the books nothing. */
import type { CallRecord } from "../../ledger/record.ts";
import type { FeatureCommit, NamedTables, NumberedCall } from "../seams.ts";
import type { NameKind, Names } from "../store/names.ts";
import { TooLate } from "../store/savepoint.ts";
import type { Transaction } from "../store/sql.ts";
import type { LostRows } from "../store/store.ts";

/** Most time of one feature in one commit: draws of budgets wait for it. Milliseconds. */
const MOST_MS = 1_000;
/** How long the rows of a feature that was too slow are left out. Milliseconds. */
const REST_MS = 60_000;

export class FeatureRows {
  readonly #commits: readonly { feature: string; commit: FeatureCommit }[];
  /** When features that were too slow are asked again. Milliseconds of the monotonic clock. */
  readonly #rests = new Map<string, number>();

  constructor(tables: readonly NamedTables[]) {
    this.#commits = tables.flatMap(({ feature, tables: { commit } }) =>
      commit ? [{ feature, commit }] : [],
    );
  }

  /** The texts that the rows have as numbers. */
  names(calls: readonly CallRecord[]): (readonly [NameKind, string])[] {
    return this.#commits.flatMap(({ commit }) => {
      try {
        return calls.flatMap((call) => (commit.names && commit.takes(call) ? [...commit.names(call)] : []));
      } catch {
        // Its rows fail for the same reason, and are counted then.
        return [];
      }
    });
  }

  /** @param numbers of the calls @returns which rows are not written */
  async write(
    sql: Transaction,
    names: Names,
    calls: readonly CallRecord[],
    numbers: readonly number[],
  ): Promise<LostRows[]> {
    const lost: LostRows[] = [];
    for (const { feature, commit } of this.#commits) {
      let own: NumberedCall[];
      try {
        own = calls.flatMap((call, at) => (commit.takes(call) ? [{ number: numbers[at]!, call }] : []));
      } catch (cause) {
        lost.push({ feature, calls: calls.length, cause });
        continue;
      }
      if (own.length === 0) continue;
      const fault = await this.#writeOne(sql, feature, (part) => commit.write(part, names, own));
      if (fault) lost.push({ feature, calls: own.length, cause: fault.cause });
    }
    return lost;
  }

  async #writeOne(sql: Transaction, feature: string, write: Parameters<Transaction["savepoint"]>[0]) {
    if (performance.now() < (this.#rests.get(feature) ?? 0))
      return { cause: new Error("the feature was too slow, and is asked again within a minute") };
    const undone = await sql.savepoint(write, MOST_MS);
    if (undone?.cause instanceof TooLate) this.#rests.set(feature, performance.now() + REST_MS);
    return undone;
  }
}
