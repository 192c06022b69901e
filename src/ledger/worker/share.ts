/** The grant of this worker from an account, and the budget or limit that the account is of. */
import type { Cells } from "../cells.ts";
import type { Nano } from "../money.ts";
import type { Budget, RateUnit, Subject } from "../policy.ts";

/** A budget, or one unit of a rate limit, as calls are checked against it. */
export interface Line {
  readonly unit: "money" | RateUnit;
  /** The mode that counts for it: `hard` for all rate limits. */
  readonly mode: Budget["mode"];
  readonly name: string;
  readonly on: Subject;
  /** The most that one call may hold: a rate limit never has room for more. */
  readonly most: number;
  /** For the unit `money`. */
  readonly budget?: Budget;
  /** For rate limits. */
  readonly account?: string;
  /** The share of the current window; budgets on sessions have one for each session instead. */
  share?: Share;
}

/** The grant of this worker from one account. */
export class Share {
  readonly account: string;
  /** The line of the newest policy that has used the share. */
  line: Line;
  /** It is in no table any more: what is granted does not reach it. */
  isForgotten = false;
  /** When the window of a budget ends. Milliseconds since 1970. */
  readonly endsAt: number;
  /** The amount that can still be held is `values[cell]`: a number that the keeper can read when this process has died. */
  readonly values: Float64Array;
  readonly cell: number;
  /** Held by attempts that run. */
  held = 0;
  /** Amount that waiting calls need before another call may ask for less. */
  wanted = 0;
  /** The keeper's last figures of the account besides this share. `at`: monotonic milliseconds. */
  known: { limit: number; left: number; at: number } | undefined;
  /** Sweeps since it was used. */
  idle = 0;
  /** The least that was left since the worker last looked for unused money. */
  least = Infinity;
  /** Cost of attempts of calls that run. It is reported with the records of the calls. */
  unreported: Nano = 0;
  /** Amount that was spent and is in no batch yet. */
  spent: Nano = 0;
  assumed: Nano = 0;
  overrun: Nano = 0;
  isDirty = false;
  readonly #cells: Cells;
  readonly #reserved: number | undefined;

  constructor(account: string, line: Line, endsAt: number, cells: Cells) {
    this.account = account;
    this.line = line;
    this.endsAt = endsAt;
    this.#cells = cells;
    this.#reserved = cells.reserve(account);
    this.values = this.#reserved === undefined ? new Float64Array(1) : cells.values;
    this.cell = this.#reserved ?? 0;
  }

  get left(): number {
    return this.values[this.cell]!;
  }

  /** Adds what was granted, or with a negative amount takes what is returned. */
  add(amount: number): void {
    this.values[this.cell]! += amount;
  }

  /** Takes back what the keeper is given: the account has it again. Negative after an overrun. */
  giveBack(amount: number): void {
    this.add(-amount);
    if (this.known) this.known = { ...this.known, left: this.known.left + amount };
  }

  /** Moves an amount from what is left to what is held. */
  hold(amount: number): void {
    const left = (this.values[this.cell]! -= amount);
    if (left < this.least) this.least = left;
    this.held += amount;
    this.idle = 0;
  }

  /** Ends a hold. @param cost what of it was used */
  settle(amount: number, cost: number): void {
    this.held -= amount;
    this.values[this.cell]! += amount - cost;
    this.idle = 0;
  }

  /** It holds nothing and has nothing left: it may be forgotten. */
  get isEmpty(): boolean {
    const isUsed = this.held !== 0 || this.wanted !== 0 || this.unreported !== 0 || this.isDirty;
    return !isUsed && this.left === 0;
  }

  forget(): void {
    this.isForgotten = true;
    if (this.#reserved !== undefined) this.#cells.release(this.#reserved);
  }
}
