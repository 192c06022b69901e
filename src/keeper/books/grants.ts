/**
 * Decides what workers are granted. While an account has enough, an ask is answered at once. Else all asks that wait are
 * served in rounds: the node draws from the store, recalls what workers do not hold, draws again, and only then refuses.
 */
import type { Grant, Refusal } from "../../ledger/messages.ts";
import type { Account } from "./account.ts";
import { BudgetAccount } from "./budget-account.ts";
import type { BooksClock } from "./clock.ts";
import type { Silent } from "./recalls.ts";
import { type BookStore, BudgetsClosed } from "../store/store.ts";

/** Rounds in which an ask may find that what it lacks has come back meanwhile. */
const ROUNDS = 5;

export interface Need {
  account: Account;
  need: number;
}

/** The need of one call of a worker: all or nothing. */
export interface Asked {
  /** Life of the worker. */
  life: string;
  /** Whether the worker has ended, and its shares are booked. */
  isGone(this: void): boolean;
  needs: readonly Need[];
  grant(this: void, grants: readonly Grant[]): void;
  refuse(this: void, refusals: readonly Refusal[]): void;
  /** A process that has ended held the same. */
  heldBefore?: boolean;
  /** In which it was not decided. */
  rounds?: number;
}

export interface GrantsOptions {
  store: Pick<BookStore, "draw" | "isShared">;
  clock: BooksClock;
  /** Asks workers to return what they do not hold. @returns when all have answered, or after some time, with those that have not */
  recall(accounts: readonly Account[]): Promise<Silent>;
  /** Takes an amount back that was to be returned to the store with the next commit. */
  keep(account: BudgetAccount): void;
  /** Draws what is assumed for a process that held the same. @returns an ask without `heldBefore`; never rejects */
  reclaimed(asked: Asked): Promise<Asked>;
  /** Resolves when the grants of an earlier run are accounted for. */
  settled(): Promise<unknown>;
  onStore(fault: unknown): void;
}

interface Round {
  /** Accounts whose row in the store is known. */
  known: Set<Account>;
  /** Accounts that need the store while it is away, or money of a node that has not answered. */
  unclear: Set<Account>;
  /** The need of all waiting calls together, so that one draw serves them. */
  waiting: ReadonlyMap<Account, number>;
  /** A refusal now is final. */
  isLast: boolean;
}

export class Grants {
  readonly #options: GrantsOptions;
  #waiting: Asked[] = [];
  #isRunning = false;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  ask(asked: Asked): void {
    if (asked.heldBefore) {
      void this.#options.reclaimed(asked).then((ready) => this.ask(ready));
      return;
    }
    if (!this.#isRunning && this.#grant(asked, true)) return;
    this.#waiting.push(asked);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#options.settled();
      const round = this.#waiting;
      this.#waiting = [];
      await this.#round(round);
    }
    this.#isRunning = false;
  }

  async #round(asks: readonly Asked[]): Promise<void> {
    const unclear = new Set<Account>();
    let rest = await this.#draw(asks, unclear, false);
    if (rest.length === 0) return;
    const silent = await this.#options.recall([
      ...new Set(rest.flatMap(lacking).map(({ account }) => account)),
    ]);
    rest = await this.#draw(rest, unclear, true);
    for (const asked of rest) if (!this.#grant(asked, false)) this.#refuse(asked, unclear, silent);
  }

  /** A refusal for good says what is true now: an ask for which enough has come back meanwhile waits for another round. */
  #refuse(asked: Asked, unclear: ReadonlySet<Account>, silent: Silent): void {
    const all = lacking(asked);
    const causes = all.filter(({ account, need }) => !mayHave(account, need));
    if (causes.length === 0 && !all.some(({ account }) => unclear.has(account))) {
      asked.rounds = (asked.rounds ?? 0) + 1;
      if (asked.rounds < ROUNDS) return void this.#waiting.push(asked);
    }
    const certain = causes.filter(
      ({ account, need }) => !unclear.has(account) && !mayHave(account, need, silent.get(account)),
    );
    asked.refuse(
      (certain.length > 0 ? certain : all).map(({ account, need }) => ({
        ...account.refusal(need),
        ...(certain.length === 0 && { unavailable: true }),
      })),
    );
  }

  /** Serves asks from what is free and what the store has. @returns those that lack something */
  async #draw(asks: readonly Asked[], unclear: Set<Account>, isLast: boolean): Promise<Asked[]> {
    const rest: Asked[] = [];
    const waiting = new Map<Account, number>();
    for (const { needs } of asks)
      for (const { account, need } of needs) waiting.set(account, (waiting.get(account) ?? 0) + need);
    /** Accounts whose row in the store is known. */
    const known = new Set<Account>();
    for (const asked of asks) {
      if (this.#grant(asked, false)) continue;
      const drawable = lacking(asked).flatMap(({ account, need }) =>
        account instanceof BudgetAccount ? [{ account, need }] : [],
      );
      // A draw for an ask that lacks something else as well would be for nothing.
      if (drawable.length === lacking(asked).length)
        await this.#drawFor(drawable, { known, unclear, waiting, isLast });
      if (!this.#grant(asked, false)) rest.push(asked);
    }
    return rest;
  }

  async #drawFor(
    needs: readonly { account: BudgetAccount; need: number }[],
    { known, unclear, waiting, isLast }: Round,
  ): Promise<void> {
    const { store, keep, onStore } = this.#options;
    for (const { account } of needs) keep(account);
    const missing = needs.filter(({ account, need }) => account.available() < account.least(need));
    if (missing.length === 0) return;
    // Only this node draws from a store of its own, so it knows what is left there.
    const isCertain = (account: BudgetAccount) => !store.isShared || known.has(account);
    if (missing.some(({ account, need }) => isCertain(account) && !mayHave(account, need))) return;
    try {
      const draws = missing.map(({ account, need }) =>
        account.draw(need, waiting.get(account) ?? need, store.isShared),
      );
      const drawn = await store.draw(draws, isLast);
      missing.forEach(({ account }, index) => {
        const { amount, row, isUnclear } = drawn[index]!;
        account.drawn(amount, row, store.isShared);
        if (isUnclear) unclear.add(account);
        else unclear.delete(account);
        known.add(account);
      });
    } catch (fault) {
      for (const { account } of missing) unclear.add(account);
      if (!(fault instanceof BudgetsClosed)) onStore(fault);
    }
  }

  /** @param spare whether more than the need may be granted @returns whether the ask is done */
  #grant({ life, isGone, needs, grant }: Asked, spare: boolean): boolean {
    // It may have ended while its ask waited. A share of it would never come back.
    if (isGone()) return true;
    if (needs.some(({ account, need }) => account.available() < account.least(need))) return false;
    const now = this.#options.clock.monotonic();
    grant(
      needs.map(({ account, need }) => {
        account.usedAt = now;
        const amount = account.grant(life, need, spare);
        const { limit, left } = account.refusal(0);
        return { account: account.id, amount, limit, left };
      }),
    );
    return true;
  }
}

/**
 * Whether an account may have what a call needs. A draw takes all or nothing, so an account that lacks something may have enough
 * in the store. @param silent lives of workers that may return what they have
 */
function mayHave(account: Account, need: number, silent: readonly string[] = []): boolean {
  if (!(account instanceof BudgetAccount)) return false;
  const late = silent.reduce((sum, life) => sum + Math.max(0, account.shares.get(life) ?? 0), 0);
  return account.free + account.room + late >= account.least(need);
}

function lacking({ needs }: Pick<Asked, "needs">): Need[] {
  return needs.filter(({ account, need }) => account.available() < account.least(need));
}
