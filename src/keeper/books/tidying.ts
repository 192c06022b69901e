/** What the books do from time to time: recall idle shares, return idle money, write the levels of rate limits. */
import type { BookAccounts } from "./book-accounts.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { BooksClock } from "./clock.ts";
import type { Recalls } from "./recalls.ts";
import type { Recorder } from "./recorder.ts";

const INTERVAL_MS = 100;
const LEVELS_MS = 1_000;

export interface TidyingOptions {
  accounts: BookAccounts;
  recalls: Recalls;
  recorder: Recorder;
  clock: BooksClock;
}

export class Tidying {
  readonly #options: TidyingOptions;
  #levelsAt = 0;
  #cancel: (() => void) | undefined;

  constructor(options: TidyingOptions) {
    this.#options = options;
    this.#later();
  }

  /** Returns the free money of an account to the store. */
  release(account: BudgetAccount): void {
    const amount = account.release();
    if (amount !== 0) this.#options.recorder.giveBack(account.id, amount);
  }

  /** Returns all free money, and writes all levels. */
  stop(): void {
    this.#cancel?.();
    for (const account of this.#options.accounts.budgets.values()) this.release(account);
    this.#writeLevels();
  }

  #later(): void {
    this.#cancel = this.#options.clock.after(INTERVAL_MS, () => {
      this.#run();
      this.#later();
    });
  }

  #run(): void {
    const { accounts, recalls, clock } = this.#options;
    const now = clock.monotonic();
    for (const account of accounts.all()) {
      if (now - account.usedAt < account.idleMs) continue;
      account.usedAt = now;
      if (account.shares.size > 0) void recalls.recall([account]);
      const budget = accounts.budgets.get(account.id);
      if (budget && budget.unsettled === 0) this.release(budget);
    }
    if (now - this.#levelsAt < LEVELS_MS) return;
    this.#levelsAt = now;
    this.#writeLevels();
    accounts.forget();
  }

  #writeLevels(): void {
    const { accounts, recorder, clock } = this.#options;
    for (const rate of accounts.rates.values())
      if (rate.isChanged) recorder.rate(rate.id, rate.save(), clock.wall());
  }
}
