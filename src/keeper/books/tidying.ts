/** Periodic work of the books: recall idle shares, return idle money, write the levels of rate limits. */
import { type BookAccounts, limitOf } from "./book-accounts.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { BooksClock } from "./clock.ts";
import type { Recalls } from "./recalls.ts";
import type { PolicyState } from "./policy-state.ts";
import type { Recorder } from "../record/recorder.ts";
import type { BookStore, RatePart } from "../store/store.ts";

const INTERVAL_MS = 100;
const LEVELS_MS = 1_000;

export interface TidyingOptions {
  accounts: BookAccounts;
  recalls: Recalls;
  recorder: Recorder;
  clock: BooksClock;
  store: Pick<BookStore, "shareRates" | "isShared">;
  policy: PolicyState;
}

export class Tidying {
  readonly #options: TidyingOptions;
  #levelsAt = 0;
  #isSharing = false;
  #hasNewRate = false;
  #shared: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;

  constructor(options: TidyingOptions) {
    this.#options = options;
    options.accounts.onNewRate = () => {
      this.#hasNewRate = true;
      if (!this.#isSharing) this.#shared = this.#shareRates();
    };
    this.#later();
  }

  /** Resolves when this node knows its part of each new rate limit. */
  get shared(): Promise<void> {
    return this.#shared;
  }

  /** Returns free money of an account to the store: all of it, if nothing else is said. */
  release(account: BudgetAccount, part?: number): void {
    const amount = account.release(part);
    if (amount !== 0) this.#options.recorder.giveBack(account.id, amount);
  }

  /** Returns all free money, and writes all levels. */
  stop(): void {
    this.#cancel?.();
    for (const account of this.#options.accounts.budgets.values()) this.release(account);
    if (!this.#options.store.shareRates) this.#writeLevels();
  }

  #later(): void {
    this.#cancel = this.#options.clock.after(INTERVAL_MS, () => {
      this.#run();
      this.#later();
    });
  }

  #run(): void {
    const { accounts, recalls, clock, store } = this.#options;
    const now = clock.monotonic();
    // Workers give back idle shares of rate limits by themselves; the keeper does not learn which are in use.
    for (const account of accounts.budgets.values()) {
      const unused = store.isShared ? 0 : account.unused(now);
      if (unused > 0) this.release(account, unused);
      if (now - account.usedAt < account.idleMs) continue;
      account.usedAt = now;
      if (account.shares.size > 0) void recalls.recall([account]);
      if (account.unsettled === 0) this.release(account);
    }
    if (now - this.#levelsAt < LEVELS_MS) return;
    this.#levelsAt = now;
    if (store.shareRates) void this.#shareRates();
    else this.#writeLevels();
    accounts.forget();
  }

  /** Learns which parts of rate limits are this node's. One question at a time. */
  async #shareRates(): Promise<void> {
    const { accounts, store, policy } = this.#options;
    if (this.#isSharing || !store.shareRates) return;
    this.#isSharing = true;
    // Accounts that are made in this moment belong to the question.
    await Promise.resolve();
    this.#hasNewRate = false;
    try {
      const demands = [...accounts.rates.values()].map((rate) => rate.demand());
      const parts = demands.length > 0 ? await store.shareRates(demands) : new Map<string, RatePart>();
      for (const [id, part] of parts) {
        const limit = policy.rate(limitOf(id));
        if (limit) accounts.rates.get(id)?.share(limit, part);
      }
    } catch {
      // The parts stay as they are while the store is away; its state is reported elsewhere.
    }
    this.#isSharing = false;
    if (this.#hasNewRate) await this.#shareRates();
  }

  #writeLevels(): void {
    const { accounts, recorder, clock } = this.#options;
    for (const rate of accounts.rates.values())
      if (rate.isChanged) recorder.rate(rate.id, rate.save(), clock.wall());
  }
}
