/** Returns of the workers of this node: of budgets that were changed, and for other nodes. */
import type { Nano } from "../../ledger/money.ts";
import type { BookAccounts } from "./book-accounts.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { Recalls } from "./recalls.ts";
import type { BooksClock } from "./clock.ts";
import type { Questions } from "./questions.ts";
import type { BookStore } from "../store/store.ts";

/** Maximum time for workers to return what they have of a budget that was changed, or to take changed keys over. Milliseconds. */
const SETTLE_MS = 5_000;

/** Maximum time for workers to take a new key over: one that is late refuses it a while longer. Milliseconds. */
const ADMIT_MS = 1_000;

/** Interval of looks whether a worker without a connection is back. Milliseconds. */
const LOOK_MS = 5;

/** In place of the id of a budget: keys were changed. */
export const KEYS = "";

export interface ReturnsOptions {
  /** Absent until the store is open. */
  accounts(): BookAccounts | undefined;
  recalls: Recalls;
  clock: BooksClock;
  /** Whether each worker that may run has a connection. */
  isComplete(): boolean;
  questions: Pick<Questions, "settled">;
  store: BookStore;
  /** Returns what is free of an account to the store, with the next commit. */
  release(account: BudgetAccount): void;
  /** Writes all that waits. */
  flush(): Promise<void>;
}

export class Returns {
  readonly #options: ReturnsOptions;

  constructor(options: ReturnsOptions) {
    this.#options = options;
  }

  /** Grants from a higher limit come back. @returns whether all workers have answered */
  async lowered(accounts: readonly BudgetAccount[], ms?: number): Promise<boolean> {
    const silent = await this.#options.recalls.recall(accounts, ms);
    for (const account of accounts) this.#options.release(account);
    return silent.size === 0;
  }

  /**
   * A budget was changed: no call that begins later passes by its former limit. With {@link KEYS}: none passes by what a key was.
   * @returns whether all workers have answered
   */
  async settle(budget: string): Promise<boolean> {
    const { accounts, clock, isComplete, questions } = this.#options;
    const until = clock.monotonic() + SETTLE_MS;
    // A worker that comes back gets the whole policy, and says what it has.
    while (!isComplete() && clock.monotonic() < until) await Bun.sleep(LOOK_MS);
    if (!isComplete()) return false;
    const left = Math.max(1, until - clock.monotonic());
    if (budget === KEYS) return questions.settled(left);
    const all = [...(accounts()?.budgets.values() ?? [])];
    return this.lowered(
      all.filter((account) => account.budget.id === budget),
      left,
    );
  }

  /** As {@link settle}, at all nodes. @returns a sentence if some have not confirmed it */
  async settleAll(budget: string): Promise<string | undefined> {
    const [isHere, nodes = []] = await Promise.all([
      this.settle(budget),
      this.#options.store.settled?.(budget),
    ]);
    const silent = nodes.map((node) => `the gateway ${node}`);
    if (!isHere) silent.unshift("a worker of this gateway");
    if (silent.length === 0) return undefined;
    const [what, by] =
      budget === KEYS
        ? ["key", "what the key was before"]
        : ["budget", "the former limit from what it was granted"];
    return `The ${what} is stored, but ${silent.join(" and ")} has not confirmed it, and may admit calls by ${by}; send the request again to wait for it.`;
  }

  /** Waits until the workers admit calls by what was just stored. @returns whether all that are connected do */
  admits(): Promise<boolean> {
    return this.#options.questions.settled(ADMIT_MS);
  }

  /** Resolves when what workers that have ended held and wrote is in the store, or after some seconds. */
  async left(ms: number = SETTLE_MS): Promise<void> {
    const { clock, isComplete, flush } = this.#options;
    const until = clock.monotonic() + ms;
    while (!isComplete() && clock.monotonic() < until) await Bun.sleep(LOOK_MS);
    await flush();
  }

  /** Another node needs what this one does not hold. @returns the amount, when it is in the store @throws Error if a worker has not answered */
  async toNode(id: string): Promise<Nano> {
    const { accounts, recalls, release, flush } = this.#options;
    const account = accounts()?.budgets.get(id);
    if (!account) return 0;
    const silent = await recalls.recall([account]);
    if (silent.size > 0) throw new Error("a worker has not answered");
    const amount = Math.max(0, account.free);
    release(account);
    await flush();
    return amount;
  }
}
