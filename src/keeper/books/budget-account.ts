/**
 * The window of a budget at this node. Always: `own` = free + all shares + what is unsettled, where `own` is what this node has drawn
 * from the store and not booked or returned.
 */
import type { Refusal } from "../../ledger/messages.ts";
import type { Nano } from "../../ledger/money.ts";
import type { Budget } from "../../ledger/policy.ts";
import { budgetAccount } from "../../ledger/record.ts";
import type { WindowSpan } from "../../ledger/windows.ts";
import type { Account, ClaimSource } from "./account.ts";
import type { AccountRow, Draw } from "../store/store.ts";

/** An account without grants and spends is recalled after this time. Milliseconds. */
const IDLE_MS = 10_000;
/**
 * Besides what its call needs, a worker gets this many times as much, or what is spent in a second if that is more, so that it goes on
 * while the keeper is started again. So does a node that has the store alone. If the whole machine loses its power, all of it is
 * assumed to be spent.
 */
const AHEAD = 16;
const AHEAD_SECONDS = 1;
/** A node that shares the store draws more, because calls go on from that while the server is away. */
const SHARED_AHEAD = 64;
/** An amount that was unused for this time is more than the calls need. Milliseconds. */
const UNUSED_MS = 1_000;

/** Where the free amount of an account is written, so that it survives the death of the keeper. */
export interface FreeCell {
  set(amount: number): void;
}

export class BudgetAccount implements Account {
  readonly id: string;
  readonly shares = new Map<string, Nano>();
  readonly idleMs = IDLE_MS;
  readonly startsAt: number;
  readonly endsAt: number | undefined;
  usedAt = 0;
  /** Drawn from the store by this node, and neither booked nor returned. */
  own: Nano = 0;
  #budget: Budget;
  /** Assumed for workers that had not come back to this keeper in time. */
  missing: Nano = 0;
  #free: Nano = 0;
  #returning: Nano = 0;
  /** The least that was free since `#leastAt`, monotonic milliseconds. */
  #leastFree: Nano = 0;
  #leastAt = 0;
  readonly #cell: FreeCell;
  /** Amounts that workers have reported as spent in the second `#second`, and in the one before it. */
  #second = 0;
  #spentNow: Nano = 0;
  #spentBefore: Nano = 0;
  /** The account in the store after the last draw, and what this node has booked since. */
  #row: AccountRow;

  constructor(budget: Budget, { startsAt, endsAt }: WindowSpan, cell: FreeCell, usedAt: number) {
    this.#budget = budget;
    this.startsAt = startsAt;
    this.endsAt = endsAt;
    this.id = budgetAccount(budget.id, startsAt);
    this.#cell = cell;
    this.usedAt = usedAt;
    this.#row = {
      account: this.id,
      budget: budget.id,
      startsAt,
      ...{ spent: 0, assumed: 0, overrun: 0, granted: 0, own: 0, alerted: 0 },
    };
  }

  get budget(): Budget {
    return this.#budget;
  }

  /** A changed limit or mode holds for the running window too. */
  set budget(budget: Budget) {
    this.#budget = budget;
  }

  /** Drawn, and granted to no worker. Negative: an overrun that the store does not know yet. */
  get free(): Nano {
    return this.#free;
  }

  set free(amount: Nano) {
    this.#free = amount;
    this.#leastFree = Math.min(this.#leastFree, amount);
    this.#cell.set(amount + this.#returning);
  }

  /** On the way to the store: still free, should the keeper die before. */
  get returning(): Nano {
    return this.#returning;
  }

  /** A commit has returned an amount to the store. */
  returned(amount: Nano): void {
    this.#returning -= amount;
    this.free = this.#free;
  }

  /** The draws that this node cannot explain: the keeper before this one granted it to workers that are not back. */
  get unsettled(): Nano {
    let shared = 0;
    for (const amount of this.shares.values()) shared += amount;
    return this.own - this.#free - shared;
  }

  get row(): AccountRow {
    return this.#row;
  }

  /** The account as the store has it now. */
  set row(row: AccountRow) {
    this.#row = row;
  }

  /** The part of the limit that neither calls nor grants have taken, as far as this node knows. */
  get room(): Nano {
    const { spent, assumed, granted } = this.#row;
    return this.#budget.limit - spent - assumed - granted;
  }

  /** A limit that was lowered leaves less than what is free, or nothing. */
  available(): Nano {
    const permitted = this.#permitted;
    return this.#budget.mode === "soft" && permitted > 0 ? this.#free : permitted;
  }

  /** A soft budget grants while anything is left; a watched one grants nothing, because it never refuses. */
  least(need: Nano): Nano {
    if (this.#budget.mode === "watch") return Number.NEGATIVE_INFINITY;
    return this.#budget.mode === "soft" ? Math.min(1, need) : need;
  }

  grant(life: string, need: Nano, spare: boolean): Nano {
    if (this.#budget.mode === "watch") return 0;
    const holders = this.shares.size + (this.shares.has(life) ? 0 : 1);
    const part = Math.floor((this.#free + Math.max(0, this.room)) / (4 * holders));
    // A call may need only the rest of what its worker lacks: without the pace the worker would soon ask again.
    const slice = Math.min(part, this.#permitted, Math.max(AHEAD * need, this.#soon));
    const amount = Math.min(this.#free, spare ? Math.max(need, slice) : need);
    this.free -= amount;
    this.#add(life, amount);
    return amount;
  }

  giveBack(life: string, amount: Nano): void {
    this.free += amount;
    this.#add(life, -amount);
  }

  /** Books what a worker has spent of its share. */
  spend(life: string, { spent, assumed, overrun }: { spent: Nano; assumed: Nano; overrun: Nano }): void {
    const total = spent + assumed;
    this.#countSpent(total);
    this.book({ spent, assumed, overrun });
    if (this.own === 0 && !this.shares.has(life) && this.#budget.mode === "watch") return;
    this.own -= total;
    this.#row = { ...this.#row, granted: this.#row.granted - total };
    this.#add(life, -total);
  }

  /** Books what a worker has spent of a share that an earlier keeper granted. */
  spendUnsettled(spend: { spent: Nano; assumed: Nano; overrun: Nano }): void {
    this.book(spend);
    if (this.own === 0 && this.#budget.mode === "watch") return;
    const total = spend.spent + spend.assumed;
    this.own -= total;
    this.#row = { ...this.#row, granted: this.#row.granted - total };
  }

  /** Counts what the next commit books. */
  book({ spent = 0, assumed = 0, overrun = 0 }: { spent?: Nano; assumed?: Nano; overrun?: Nano }): void {
    const row = this.#row;
    this.#row = {
      ...row,
      spent: row.spent + spent,
      assumed: row.assumed + assumed,
      overrun: row.overrun + overrun,
    };
  }

  claim(life: string, amount: Nano, from: ClaimSource): Nano {
    const more = amount - (this.shares.get(life) ?? 0);
    const back = from === "too-late" ? Math.min(more, this.missing) : 0;
    this.missing -= back;
    this.assume(-back);
    // A grant that did not reach the worker is free again.
    if (from !== "earlier") this.free += back - more;
    if (amount === 0) this.shares.delete(life);
    else this.shares.set(life, amount);
    return back;
  }

  /** Takes back what was to be returned to the store. */
  keep(amount: Nano): void {
    if (amount === 0) return;
    this.#returning -= amount;
    this.free += amount;
    this.own += amount;
    this.#row = { ...this.#row, granted: this.#row.granted + amount };
  }

  bury(life: string, left: Nano): Nano {
    const share = this.shares.get(life) ?? 0;
    this.shares.delete(life);
    const returned = Math.min(left, share);
    this.free += returned;
    return this.assume(share - returned);
  }

  /** Money that this node had drawn counts as spent. */
  assume(amount: Nano): Nano {
    this.own -= amount;
    this.#row = { ...this.#row, granted: this.#row.granted - amount };
    this.book({ assumed: amount });
    return amount;
  }

  /** The store has drawn an amount again that was assumed: it is free. */
  reclaimed(amount: Nano): void {
    this.missing -= Math.min(amount, this.missing);
    this.assume(-amount);
    this.free += amount;
  }

  /** The amount that was free for a second without a call that needed it. @param now monotonic milliseconds */
  unused(now: number): Nano {
    if (now - this.#leastAt < UNUSED_MS) return 0;
    const amount = Math.max(0, this.#leastFree);
    this.#leastAt = now;
    this.#leastFree = this.#free;
    return amount;
  }

  /** A free amount returns to the store: all of it, if nothing else is said. @returns the amount */
  release(amount: Nano = this.#free): Nano {
    this.#returning += amount;
    this.free -= amount;
    this.own -= amount;
    this.#row = { ...this.#row, granted: this.#row.granted - amount };
    return amount;
  }

  /** The draw of this node, so that a call gets its need. @param waiting need of all waiting calls together */
  draw(need: Nano, waiting: Nano, isShared: boolean): Draw {
    const least = Math.max(1, this.least(need) - this.#free);
    const pace = this.#pace;
    const want = isShared
      ? Math.floor(Math.min(Math.max(0, this.room) / 4, Math.max(SHARED_AHEAD * need, pace)))
      : Math.max(AHEAD * need, this.#soon);
    return {
      account: this.id,
      budget: this.#budget.id,
      startsAt: this.startsAt,
      ...(this.endsAt !== undefined && { endsAt: this.endsAt }),
      limit: this.#budget.limit,
      hard: this.#budget.mode === "hard",
      need: least,
      want: Math.max(least, want, waiting - this.#free),
    };
  }

  /**
   * @param row of the store, where what was booked since its last commit still counts as granted
   * @param isShared other nodes may have taken back what they had assumed
   */
  drawn(amount: Nano, row: AccountRow, isShared: boolean): void {
    this.#row = this.rowWith(row, isShared);
    this.own += amount;
    this.free += amount;
  }

  /** The account by a row of the store and by what this node has booked since; parameters as of {@link drawn}. */
  rowWith(row: AccountRow, isShared: boolean): AccountRow {
    const before = this.#row;
    const spent = Math.max(row.spent, before.spent);
    const assumed = isShared ? row.assumed : Math.max(row.assumed, before.assumed);
    const booked = spent - row.spent + assumed - row.assumed;
    return {
      ...row,
      ...{ spent, assumed, granted: Math.max(0, row.granted - booked) },
      overrun: Math.max(row.overrun, before.overrun),
      alerted: Math.max(row.alerted, before.alerted),
    };
  }

  refusal(): Refusal {
    return {
      account: this.id,
      limit: this.#budget.limit,
      left: Math.max(0, this.room + this.#free),
      ...(this.endsAt !== undefined && { resetsAt: this.endsAt }),
    };
  }

  /** The part of the free amount that the limit admits. Negative: more was drawn than a lowered limit admits. */
  get #permitted(): Nano {
    return this.#free + Math.min(0, this.room);
  }

  #countSpent(amount: Nano): void {
    const second = Math.floor(this.usedAt / 1000);
    if (second !== this.#second) {
      this.#spentBefore = second === this.#second + 1 ? this.#spentNow : 0;
      this.#spentNow = 0;
      this.#second = second;
    }
    this.#spentNow += amount;
  }

  /** The recent spending in a second. */
  get #pace(): Nano {
    const ago = Math.floor(this.usedAt / 1000) - this.#second;
    return ago > 1 ? 0 : Math.max(this.#spentNow, this.#spentBefore);
  }

  get #soon(): Nano {
    return Math.round(AHEAD_SECONDS * this.#pace);
  }

  #add(life: string, amount: Nano): void {
    const share = (this.shares.get(life) ?? 0) + amount;
    if (share === 0) this.shares.delete(life);
    else this.shares.set(life, share);
  }
}
