/** Deletes what is older than it may be in PostgreSQL. The calls of a day are one partition, which is dropped as a whole. */
import type { Keep } from "../../../ledger/keep.ts";
import {
  deleteHours,
  deleteKept,
  deletePositions,
  deleteSessions,
  keepCharges,
  raise,
} from "../../record/deletion.ts";
import { cutsOf, keptOf } from "../../record/due.ts";
import type { KeptRows, NamedTables } from "../../seams.ts";
import { firstNumber } from "../numbers.ts";
import { DAY_MS } from "../../record/roll-ups.ts";
import type { Sql } from "../sql.ts";

const LOOK_MS = 60_000;
/** Between two slices. Milliseconds. */
const SLICE_MS = 100;
/** Of the lock that the node has which deletes. */
const LOCK = 0x64_65_6c_65;

export class ServerRetention {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #kept: readonly KeptRows[];
  /** Nothing is deleted before the config is known. */
  keep: Keep | undefined;
  #timer: Timer | undefined;
  #closed = false;

  /** @param sql a connection for long statements @param features their tables */
  constructor(sql: Sql, now: () => number = Date.now, features: readonly NamedTables[] = []) {
    this.#sql = sql;
    this.#kept = keptOf(features);
    this.#now = now;
    this.#later(LOOK_MS);
  }

  stop(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Deletes the calls of one day, or a slice of something else. @returns how many rows it deleted */
  async slice(): Promise<number> {
    if (!this.keep) return 0;
    const sql = this.#sql;
    const now = this.#now();
    const cuts = cutsOf(this.keep.keepDays, now);
    const rows =
      (await dropDay(sql, now - this.keep.keepDays.calls * DAY_MS)) ||
      (await deleteHours(sql, cuts.hours)) ||
      (await deleteSessions(sql, cuts.sessions)) ||
      (await deletePositions(sql, cuts.positions));
    if (rows > 0) return rows;
    for (const kept of this.#kept) {
      const deleted = await deleteKept(sql, kept, cuts);
      if (deleted > 0) return deleted;
    }
    return 0;
  }

  #later(ms: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.slice().then(
        (rows) => this.#later(rows > 0 ? SLICE_MS : LOOK_MS),
        // The next look tries again; whether the store can be reached is reported elsewhere.
        () => this.#later(LOOK_MS),
      );
    }, ms);
    this.#timer.unref();
  }
}

/**
 * Drops the partition of the oldest day that ended before a moment.
 * @param before milliseconds since 1970 @returns how many calls it had; 0 also while another node deletes
 */
function dropDay(sql: Sql, before: number): Promise<number> {
  return sql.transaction(async (tx) => {
    const [lock] = await tx.all<{ held: number }>("SELECT pg_try_advisory_xact_lock($1) AS held", [LOCK]);
    if (lock!.held === 0) return 0;
    const [oldest] = await tx.all<{ name: string }>(
      `SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = 'calls'::regclass AND relname ~ '^calls_[0-9]{8}$' ORDER BY relname LIMIT 1`,
    );
    const day = oldest && dayOf(oldest.name);
    if (day === undefined || day + DAY_MS > before) return 0;
    const which = `number >= ${firstNumber(day)} AND number < ${firstNumber(day + DAY_MS)}`;
    const [row] = await tx.all<{ calls: number }>(`SELECT count(*) AS calls FROM calls WHERE ${which}`);
    await keepCharges(tx, which);
    await tx.run(`DELETE FROM charges WHERE ${which}`);
    await raise(tx, "calls_from", day + DAY_MS);
    // Commits wait behind a statement that waits for a long report: it gives up soon, and is repeated.
    await tx.run("SET LOCAL lock_timeout = '500ms'");
    await tx.run(`DROP TABLE ${oldest!.name}`);
    return Math.max(1, row!.calls);
  });
}

/** The day of a partition: `calls_20261115`. Milliseconds since 1970. */
function dayOf(name: string): number {
  const [, year, month, day] = /^calls_(\d{4})(\d\d)(\d\d)$/.exec(name)!;
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
