/** Deletes what is older than it may be: calls by days and bytes, hours and sessions by days. Sums by day stay for ever. */
import type { Keep } from "../../ledger/keep.ts";
import { deleteCalls, deleteHours, deletePositions, deleteSessions } from "./deletion.ts";
import { deleteBreaks, deletePrompts } from "./prompt-rows.ts";
import { firstNumber } from "./numbers.ts";
import { DAY_MS, HOUR_MS } from "./roll-ups.ts";
import type { Sql } from "./sql.ts";

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
  /** Nothing is deleted before the config is known. */
  keep: Keep | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(sql: Sql, now: () => number, bytes?: () => Promise<number>) {
    this.#sql = sql;
    this.#now = now;
    this.#bytes = bytes;
    this.#later(SLICE_MS);
  }

  stop(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Deletes one slice. @returns how many rows it deleted */
  async slice(): Promise<number> {
    if (!this.keep) return 0;
    const now = this.#now();
    const { calls, hours, sessions } = this.keep.keepDays;
    return (
      (await deleteCalls(this.#sql, firstNumber(now - calls * DAY_MS))) ||
      (await this.#deleteOverflow()) ||
      (await deleteHours(this.#sql, Math.floor((now - hours * DAY_MS) / HOUR_MS) * HOUR_MS)) ||
      (await deleteSessions(this.#sql, now - sessions * DAY_MS)) ||
      (await deletePrompts(this.#sql, now - sessions * DAY_MS)) ||
      (await deleteBreaks(this.#sql, firstNumber(now - calls * DAY_MS))) ||
      (await deletePositions(this.#sql, now - calls * DAY_MS))
    );
  }

  /** Deletes all that is due. @param pause waits between two slices @returns how many rows were deleted */
  async all(pause: () => Promise<void>): Promise<number> {
    for (let total = 0; ;) {
      const rows = await this.slice();
      total += rows;
      if (rows === 0) return total;
      await pause();
    }
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
