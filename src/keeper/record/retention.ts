/** Deletes what is older than it may be: calls by days and bytes, hours and sessions by days. Sums by day stay for ever. */
import type { Keep } from "../../ledger/keep.ts";
import type { KeptRows, NamedTables } from "../seams.ts";
import { deleteCalls, deleteHours, deleteKept, deletePositions, deleteSessions, SLICE } from "./deletion.ts";
import { bytesOf, countOld, cutsOf, keptOf, type Pruned, Tally } from "./due.ts";
import type { Sql } from "../store/sql.ts";

/** Between two looks when nothing is to be deleted. Milliseconds. */
const LOOK_MS = 60_000;
/** Between two slices, so that asks are answered. Milliseconds. */
const SLICE_MS = 100;
/** Free pages that one slice returns to the file system. */
const PAGES = 50;
/** Free pages that the file keeps for new rows. */
const FREE_PAGES = 1_000;

export class Retention {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** Bytes of the file in use; undefined where only days count. */
  readonly #bytes: (() => Promise<number>) | undefined;
  /** Rows of features. */
  readonly #kept: readonly KeptRows[];
  /** Nothing is deleted before the config is known. */
  keep: Keep | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    sql: Sql,
    now: () => number,
    bytes?: () => Promise<number>,
    features: readonly NamedTables[] = [],
  ) {
    this.#sql = sql;
    this.#kept = keptOf(features);
    this.#now = now;
    this.#bytes = bytes;
    this.#later(SLICE_MS);
  }

  stop(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Deletes one slice. @returns how many rows it deleted */
  async slice(tally = new Tally()): Promise<number> {
    if (!this.keep) return 0;
    const cuts = cutsOf(this.keep.keepDays, this.#now());
    const { calls, hours, sessions, positions } = cuts;
    const steps: readonly (readonly [string, () => Promise<number>])[] = [
      ["calls", () => deleteCalls(this.#sql, calls)],
      ["calls", () => this.#deleteOverflow()],
      ["use_hour", () => deleteHours(this.#sql, hours)],
      ["sessions", () => deleteSessions(this.#sql, sessions)],
      ["positions", () => deletePositions(this.#sql, positions)],
      ...this.#kept.map((rows) => [rows.table, () => deleteKept(this.#sql, rows, cuts)] as const),
    ];
    for (const [table, step] of steps) {
      const rows = await step();
      tally.add(table, rows);
      if (rows > 0) return rows;
    }
    return 0;
  }

  /** Deletes all that is due. @param pause waits between two slices */
  async all(pause: () => Promise<void>): Promise<Pruned> {
    const tally = new Tally();
    while ((await this.slice(tally)) > 0) await pause();
    return tally.pruned;
  }

  /**
   * The rows that {@link all} would delete now. Calls that go because the file is too large are counted by the average size of a call, so
   * that their number may be off by some hundreds.
   */
  async due(): Promise<Pruned> {
    if (!this.keep) return new Tally().pruned;
    const tally = await countOld(this.#sql, cutsOf(this.keep.keepDays, this.#now()), this.#kept);
    const [row] = await this.#sql.all<{ calls: number }>("SELECT count(*) AS calls FROM calls");
    const old = tally.pruned.tables.calls?.rows ?? 0;
    const left = row!.calls - old;
    const each = ((await bytesOf(this.#sql, "calls", left)) ?? 0) / Math.max(1, left);
    const excess = this.#bytes ? (await this.#bytes()) - old * each - this.keep.callBytes : 0;
    if (excess > 0 && each > 0) tally.add("calls", Math.min(left, Math.ceil(excess / each / SLICE) * SLICE));
    return tally.measured(this.#sql);
  }

  async #deleteOverflow(): Promise<number> {
    if (!this.keep || !this.#bytes || (await this.#bytes()) <= this.keep.callBytes) return 0;
    return deleteCalls(this.#sql, Number.MAX_SAFE_INTEGER);
  }

  /** Returns free pages to the file system. @returns whether it did */
  async #shrink(): Promise<boolean> {
    if (this.#sql.dialect !== "sqlite") return false;
    const [row] = await this.#sql.all<{ freelist_count: number }>("PRAGMA freelist_count");
    if (row!.freelist_count <= FREE_PAGES) return false;
    await this.#sql.all(`PRAGMA incremental_vacuum(${PAGES})`);
    return true;
  }

  #later(ms: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#look(), ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    let isBusy = false;
    try {
      isBusy = (await this.slice()) > 0 || (await this.#shrink());
    } catch {
      // The next commit reports what is wrong with the store.
    }
    this.#later(isBusy ? SLICE_MS : LOOK_MS);
  }
}
