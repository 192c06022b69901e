/** The shares of this worker: found by line, given back when they are idle or recalled. */
import type { Cells } from "../cells.ts";
import type { BooksChannel } from "../channel.ts";
import type { ShareState } from "../messages.ts";
import { budgetAccount } from "../record.ts";
import { windowAt } from "../windows.ts";
import { type Line, Share } from "./share.ts";

/** How often idle shares are looked for. Milliseconds. */
const SWEEP_MS = 200;
/** Sweeps after which an idle share is given back: of a rate limit at once, of a budget after ten seconds. */
const IDLE_RATE = 2;
const IDLE_MONEY = 50;
/** Sweeps between two looks for money that no call has used since, which the worker then gives back. */
const UNUSED_SWEEPS = 5;

export class Shares {
  readonly #channel: BooksChannel;
  readonly #cells: Cells;
  readonly #byAccount = new Map<string, Share>();
  #timer: Timer | undefined;
  #sweeps = 0;

  constructor(channel: BooksChannel, cells: Cells) {
    this.#channel = channel;
    this.#cells = cells;
  }

  get(account: string): Share | undefined {
    return this.#byAccount.get(account);
  }

  /** The share of a line at a moment. @param session for budgets on sessions */
  of(line: Line, now: number, session: string | undefined): Share {
    const { share } = line;
    // A line of a new policy begins with the share of the one before.
    if (share !== undefined && now < share.endsAt && !share.isForgotten) {
      share.line = line;
      return share;
    }
    return this.#find(line, now, session);
  }

  #find(line: Line, now: number, session: string | undefined): Share {
    const { budget } = line;
    const { startsAt, endsAt = Infinity } = budget ? windowAt(budget, now) : { startsAt: 0 };
    const isForSession = line.on.kind === "session";
    const account = budget
      ? budgetAccount(budget.id, startsAt, isForSession ? session : undefined)
      : line.account!;
    let share = this.#byAccount.get(account);
    if (!share) {
      share = new Share(account, line, endsAt, this.#cells);
      this.#byAccount.set(account, share);
      this.#timer ??= this.#startSweeps();
    }
    share.line = line;
    if (!isForSession) line.share = share;
    return share;
  }

  /**
   * Gives back what a share has left; the keeper waits for the answer, also if it is nothing. After an overrun it is negative.
   * @param number of the recall; 0: the keeper has not asked for it
   */
  recall(account: string, number?: number): void {
    const share = this.#byAccount.get(account);
    const amount = share?.left ?? 0;
    share?.giveBack(amount);
    this.#channel.send({ kind: "return", account, amount, ...(number !== undefined && { number }) });
  }

  /** A share that has been busy keeps what its calls held at once, which may be much more than they need now. */
  #giveBackUnused(share: Share): void {
    const { account, line, least, left, wanted } = share;
    const amount = Math.min(least, left);
    share.least = left;
    if (!(amount > 0) || amount === Infinity || wanted > 0) return;
    if (line.mode === "watch" || !this.#channel.isUp) return;
    share.giveBack(amount);
    share.least = share.left;
    this.#channel.send({ kind: "return", account, amount, number: 0 });
  }

  /**
   * Gives back everything that is not held. Without a connection the keeper finds it in the memory that outlives this process: a
   * message would be lost, and the amount with it.
   */
  returnAll(): void {
    if (!this.#channel.isUp) return;
    for (const [account, { left }] of this.#byAccount) if (left !== 0) this.recall(account, 0);
  }

  /** Amount that is neither settled nor returned. */
  states(): ShareState[] {
    const states: ShareState[] = [];
    for (const { account, left, held, unreported, line } of this.#byAccount.values()) {
      const amount = left + held + unreported;
      if (line.mode !== "watch" && amount !== 0) states.push({ account, amount });
    }
    return states;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #startSweeps(): Timer {
    const timer = setInterval(() => this.#sweep(Date.now()), SWEEP_MS);
    timer.unref?.();
    return timer;
  }

  #sweep(now: number): void {
    const looksForUnused = ++this.#sweeps % UNUSED_SWEEPS === 0;
    for (const share of this.#byAccount.values()) {
      const { line, account, endsAt } = share;
      if (looksForUnused && line.unit === "money") this.#giveBackUnused(share);
      const isOver = now >= endsAt;
      const limit = line.unit !== "money" || isOver ? IDLE_RATE : IDLE_MONEY;
      if (share.wanted > 0 || ++share.idle < limit) continue;
      if (share.left !== 0 && line.mode !== "watch" && this.#channel.isUp) this.recall(account, 0);
      if (!share.isEmpty) continue;
      this.#byAccount.delete(account);
      if (line.share === share) line.share = undefined;
      share.forget();
    }
    if (this.#byAccount.size === 0) this.close();
  }
}
