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
import type { isAlive } from "./peers.ts";
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
  /** The newest batch of a worker's life that is in the store; 0 if none is. */
  positionOf(life: string): number;
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
  #take(file: string): void {
    this.#isCertain = false;
    this.#options.accounts.doubt();
    const cells = readCells(file);
    if (!cells && isForeign(file))
      this.#options.report(
        `${file} was written by another version of weir: what its worker held is assumed, and its last records are not read`,
      );
    emptyCells(file);
    this.#dead.push(file);
    if (cells) this.#return(cells);
  }

  #return(cells: LeftCells): void {
    this.#record(cells);
    for (const account of this.#options.accounts.budgets.values()) {
      const left = cells.leftOf(account.id) ?? 0;
      account.free += Math.min(left, account.unsettled);
    }
  }

  #record({ life, batches }: LeftCells): void {
    const { accounts, recorder, positionOf } = this.#options;
    const stored = positionOf(life);
    for (const batch of batches()) {
      if (batch.seq <= stored) continue;
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
