/** Asks for calls for which a process held that has ended: what is assumed for it is granted again. */
import type { Nano } from "../../ledger/money.ts";
import type { Recorder } from "../record/recorder.ts";
import type { BookStore } from "../store/store.ts";
import { BudgetAccount } from "./budget-account.ts";
import type { Asked } from "./grants.ts";
import type { Returns } from "./returns.ts";

/** A worker waits for an answer only some seconds. Milliseconds. */
const LEFT_MS = 2_000;
const WHY = "a call goes on that had ended with its process";
const BACK = "a call that had ended with its process does not go on";

export interface ReclaimsOptions {
  store: Pick<BookStore, "reclaim">;
  returns: Pick<Returns, "left">;
  recorder: Pick<Recorder, "assume">;
}

interface Waiting {
  asked: Asked;
  done(asked: Asked): void;
}

export class Reclaims {
  readonly #options: ReclaimsOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: ReclaimsOptions) {
    this.#options = options;
  }

  /**
   * Draws what is assumed, up to the needs.
   * @returns the ask for an ordinary grant. If it is refused, or its worker ends, the amounts are assumed as before
   */
  take(asked: Asked): Promise<Asked> {
    return new Promise((done) => {
      this.#waiting.push({ asked, done });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Asks that come together need one change of the store for each account: a batch of a provider may have thousands of lines. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#options.returns.left(LEFT_MS);
      const group = this.#waiting;
      this.#waiting = [];
      const drawn = await this.#draw(group);
      for (const { asked, done } of group) done(this.#ready(asked, drawn));
    }
    this.#isRunning = false;
  }

  async #draw(group: readonly Waiting[]): Promise<Map<BudgetAccount, Nano>> {
    const drawn = new Map<BudgetAccount, Nano>();
    for (const { asked } of group)
      for (const { account, need } of asked.needs)
        if (account instanceof BudgetAccount) drawn.set(account, (drawn.get(account) ?? 0) + need);
    for (const [account, most] of drawn) {
      // A store that is away, or does not say whether it has done it: the call needs a grant as others, and the assumption stays.
      const amount = await this.#options.store.reclaim(account.id, most, WHY).catch(() => 0);
      if (amount > 0) account.reclaimed(amount);
      drawn.set(account, amount);
    }
    return drawn;
  }

  /** @param drawn less what the ask gets */
  #ready(asked: Asked, drawn: Map<BudgetAccount, Nano>): Asked {
    const parts = asked.needs.flatMap(({ account, need }) => {
      if (!(account instanceof BudgetAccount)) return [];
      const amount = Math.min(need, drawn.get(account) ?? 0);
      drawn.set(account, (drawn.get(account) ?? 0) - amount);
      return amount > 0 ? [{ account, amount }] : [];
    });
    const undo = () => {
      for (const { account, amount } of parts.splice(0)) {
        account.free -= amount;
        account.assume(amount);
        this.#options.recorder.assume(account.id, amount, BACK);
      }
    };
    return {
      ...asked,
      heldBefore: false,
      isGone: () => {
        const gone = asked.isGone();
        if (gone) undo();
        return gone;
      },
      refuse: (refusals) => {
        undo();
        asked.refuse(refusals);
      },
      grant: (grants) => {
        parts.length = 0;
        asked.grant(grants);
      },
    };
  }
}
