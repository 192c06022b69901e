/**
 * After a keeper has ended: what it had granted is known again when each worker of that time has come back or is known to be dead.
 * Until then nothing is refused for money that may still come back. What remains unexplained was on the way between the keeper
 * and a worker if all workers have come back: it is free. Else it is assumed to be spent.
 */
import {
  cellFiles,
  emptyCells,
  isForeign,
  isKeeperFile,
  type LeftCells,
  readCells,
  removeCells,
} from "./cells.ts";
import type { BookAccounts } from "./book-accounts.ts";
import { withSpends } from "./claims.ts";
import type { BooksClock } from "./clock.ts";
import type { isAlive, Peer } from "./peers.ts";
import type { Recorder } from "../record/recorder.ts";

/** Maximum time for the workers of before to come back. Milliseconds. */
const RETURN_MS = 5_000;
/** Interval at which weir looks whether they have ended. Milliseconds. */
const LOOK_MS = 20;
/** A worker that is away for longer may be another process by now, with the number of one that has ended. Milliseconds. */
const FORGOTTEN_MS = 60_000;

export interface RecoveryOptions {
  accounts: BookAccounts;
  recorder: Recorder;
  clock: BooksClock;
  /** Folder of the cells. */
  folder: string | undefined;
  isAlive: typeof isAlive;
  /** Logs a fault. */
  report(sentence: string): void;
  /** The newest batch of a worker's life that is counted; 0 if none is. */
  positionOf(life: string): number;
  /** A life is over, and what was left of it is taken: messages of it that still arrive count no more. */
  over(life: string): void;
}

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #done = Promise.withResolvers<void>();
  readonly #until: number;
  /** Files of workers that may come back. */
  readonly #expected: Set<string>;
  /** An amount without explanation is with no worker. */
  #isCertain: boolean;
  #isDone = false;
  /** Files of workers that are dead. */
  readonly #dead: string[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#isCertain = options.accounts.wasCertain;
    this.#until = options.clock.monotonic() + RETURN_MS;
    this.#expected = new Set(cellFiles(options.folder).filter((file) => !isKeeperFile(file)));
    this.#look();
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** No worker of before runs without a connection, as far as the system says. */
  get isWhole(): boolean {
    const { clock, isAlive: lives } = this.#options;
    if (!this.#isDone) return false;
    if (clock.monotonic() > this.#until + FORGOTTEN_MS) return true;
    return ![...this.#expected].some((file) => lives(file) === true);
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** A worker has come back and said what it has. */
  returned(file: string | undefined): void {
    if (file !== undefined && this.#expected.delete(file) && !this.#isDone) this.#look();
  }

  /**
   * A worker has ended that had not yet said what it has.
   * @returns whether this takes what it left; false for a worker that is not awaited
   */
  ended({ cells, counted }: Pick<Peer, "cells" | "counted">): boolean {
    if (this.#isDone || cells === undefined || !this.#expected.delete(cells)) return false;
    this.#take(cells, counted);
    this.#look();
    return true;
  }

  /** The gateway ends: no worker comes back any more. */
  end(): void {
    if (this.#isDone) return;
    for (const file of this.#expected) this.#take(file);
    this.#expected.clear();
    this.#finish();
  }

  #look(): void {
    if (this.#isDone) return;
    for (const file of this.#expected) {
      if (this.#options.isAlive(file) !== false) continue;
      this.#take(file);
      this.#expected.delete(file);
    }
    const { accounts, clock, folder } = this.#options;
    const isUnsettled = [...accounts.budgets.values()].some(({ unsettled }) => unsettled !== 0);
    // Without cells nothing says which workers there were.
    const isWaiting = this.#expected.size > 0 || (isUnsettled && folder === undefined);
    if (isWaiting && clock.monotonic() < this.#until) return void clock.after(LOOK_MS, () => this.#look());
    if (isWaiting) this.#isCertain = false;
    this.#finish();
  }

  /** The rest of a dead worker's grants is free, and the records in its memory are stored. */
  #take(file: string, counted?: number): void {
    this.#isCertain = false;
    this.#options.accounts.doubt();
    const cells = readCells(file);
    if (!cells && isForeign(file))
      this.#options.report(
        `${file} was written by another version of weir: what its worker held is assumed, and its last records are not read`,
      );
    emptyCells(file);
    this.#dead.push(file);
    if (cells) this.#return(cells, counted);
  }

  #return(cells: LeftCells, counted = this.#options.positionOf(cells.life)): void {
    const { accounts, over } = this.#options;
    this.#record(cells, counted);
    // What it has sent is counted as spent; the rest of its grants is not explained yet.
    for (const { shares } of accounts.all()) shares.delete(cells.life);
    over(cells.life);
    for (const account of accounts.budgets.values()) {
      const left = cells.leftOf(account.id) ?? 0;
      account.free += Math.min(left, account.unsettled);
    }
  }

  #record({ life, batches }: LeftCells, counted: number): void {
    const { accounts, recorder } = this.#options;
    for (const batch of batches()) {
      if (batch.seq <= counted) continue;
      const complete = withSpends(batch, accounts);
      for (const spend of complete.spends) accounts.budget(spend.account)?.spendUnsettled(spend);
      recorder.add({ life, worker: 0, batch: complete, stored() {} });
    }
  }

  #finish(): void {
    this.#isDone = true;
    const { accounts, recorder } = this.#options;
    for (const account of accounts.budgets.values()) {
      const { unsettled } = account;
      if (unsettled > 0 && !this.#isCertain) {
        account.missing = account.assume(unsettled);
        recorder.assume(account.id, unsettled, "the gateway ended while calls were running");
      } else account.free += unsettled;
    }
    recorder.afterCommit(() => this.#dead.forEach(removeCells));
    if (recorder.isEmpty) accounts.trust();
    for (const rate of accounts.rates.values()) rate.settle();
    this.#done.resolve();
  }
}
