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

/**
 * Draws what is assumed, up to the needs.
 * @returns the ask for an ordinary grant. If it is refused, or its worker ends, the amounts are assumed as before
 */
export async function reclaimed(asked: Asked, { store, returns, recorder }: ReclaimsOptions): Promise<Asked> {
  const drawn: { account: BudgetAccount; amount: Nano }[] = [];
  await returns.left(LEFT_MS);
  for (const { account, need } of asked.needs) {
    if (!(account instanceof BudgetAccount)) continue;
    // A store that is away, or does not say whether it has done it: the call needs a grant as others, and the assumption stays.
    const amount = await store.reclaim(account.id, need, WHY).catch(() => 0);
    if (amount === 0) continue;
    account.reclaimed(amount);
    drawn.push({ account, amount });
  }
  const undo = () => {
    for (const { account, amount } of drawn.splice(0)) {
      account.free -= amount;
      account.assume(amount);
      recorder.assume(account.id, amount, BACK);
    }
  };
  const { isGone, refuse, grant } = asked;
  return {
    ...asked,
    heldBefore: false,
    isGone: () => {
      const gone = isGone();
      if (gone) undo();
      return gone;
    },
    refuse: (refusals) => {
      undo();
      refuse(refusals);
    },
    grant: (grants) => {
      drawn.length = 0;
      grant(grants);
    },
  };
}
