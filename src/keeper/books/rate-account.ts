/** One unit of a rate limit. Tokens come back with time, up to the burst; places come back when calls end. */
import type { Refusal } from "../../ledger/messages.ts";
import { type RateLimit, type RateUnit } from "../../ledger/policy.ts";
import { rateAccount } from "../../ledger/record.ts";
import type { Account, ClaimSource } from "./account.ts";
import type { FreeCell } from "./budget-account.ts";
import type { BooksClock } from "./clock.ts";
import type { RateDemand, RatePart } from "../store/store.ts";

/** A worker gets the tokens of this time at once. Milliseconds. */
const SLICE_MS = 20;

/** How soon the parts of the nodes follow what is asked. Milliseconds. */
const SHARING_MS = 2_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** How long a limit takes to refill, by unit. Places do not refill. Milliseconds. */
const PERIOD: Readonly<Partial<Record<RateUnit, number>>> = {
  rpm: MINUTE_MS,
  tpm: MINUTE_MS,
  itpm: MINUTE_MS,
  otpm: MINUTE_MS,
  rpd: DAY_MS,
  tpd: DAY_MS,
};

export class RateAccount implements Account {
  readonly id: string;
  readonly unit: RateUnit;
  readonly shares = new Map<string, number>();
  usedAt = 0;
  #limit = 0;
  #burst = 0;
  #part = 1;
  /** Tokens that come back in a millisecond; 0 for places. */
  #rate = 0;
  #level = 0;
  #asked = 0;
  #saved: number | undefined;
  #filledAt: number;
  /** The level was that of an earlier keeper. */
  #isResumed = false;
  readonly #clock: BooksClock;
  readonly #cell: FreeCell;

  /** @param part of the limit that is this node's: see {@link change} */
  constructor(rate: RateLimit, unit: RateUnit, clock: BooksClock, cell: FreeCell, part = 1) {
    this.id = rateAccount(rate.id, unit);
    this.unit = unit;
    this.#clock = clock;
    this.#cell = cell;
    this.#filledAt = this.usedAt = clock.monotonic();
    this.change(rate, part);
    this.level = this.#burst;
  }

  /** Takes a part of the limit that this node shares with others, with what no node has used of it. */
  share(rate: RateLimit, { part, credit }: RatePart): void {
    this.change(rate, part);
    if (!this.isPlaces) this.level = Math.min(this.#burst, this.#level + credit);
  }

  /** @param part of the limit that is this node's, 0 to 1; default: as before */
  change({ limits, burst }: RateLimit, part = this.#part): void {
    this.#fill();
    const before = this.#burst;
    this.#part = part;
    const period = PERIOD[this.unit];
    this.#limit = limits[this.unit] ?? 0;
    const most = period === undefined ? this.#limit : (burst?.[this.unit] ?? this.#limit);
    // A part is a fraction: without rounding, one place or token could be a little less than one.
    this.#burst = period === undefined ? Math.floor(rounded(most * part)) : rounded(most * part);
    this.#rate = period === undefined ? 0 : (this.#limit * part) / period;
    // Places in use stay in use; tokens above a lower burst are gone.
    this.level =
      period === undefined ? this.#level + this.#burst - before : Math.min(this.#level, this.#burst);
  }

  get isPlaces(): boolean {
    return this.unit === "concurrency";
  }

  /** Tokens or places that are there now. Negative after a limit was lowered. */
  get level(): number {
    return this.#level;
  }

  set level(level: number) {
    this.#level = level;
    this.#cell.set(level);
  }

  /**
   * Continues with the level of an earlier run.
   * @param agoMs time since then; a negative time counts as none
   */
  resume(level: number, agoMs: number): void {
    this.#isResumed = true;
    this.level = Math.min(this.#burst, level + Math.max(0, agoMs) * this.#rate);
  }

  available(): number {
    this.#fill();
    return this.isPlaces ? this.#level : Math.floor(this.#level);
  }

  least(need: number): number {
    return need;
  }

  /** This node's need of the limit, since the last time. */
  demand(): RateDemand {
    const asked = this.#asked;
    this.#asked = 0;
    let used = 0;
    if (this.isPlaces) for (const share of this.shares.values()) used += share;
    return { account: this.id, limit: this.#limit, asked, used, periodMs: PERIOD[this.unit] ?? 0 };
  }

  grant(life: string, need: number, spare: boolean): number {
    this.#asked += need;
    const slice = this.isPlaces ? need : Math.floor(Math.max(1, this.#rate * SLICE_MS));
    const amount = spare ? Math.max(need, Math.min(this.available(), slice)) : need;
    this.level -= amount;
    this.#add(life, amount);
    return amount;
  }

  giveBack(life: string, amount: number): void {
    // A share of tokens is the most that a worker may still return: what it has used is not known.
    this.#add(life, -amount);
    this.#fill();
    this.level = Math.min(this.#burst, this.#level + amount);
  }

  /** All places of a worker that is gone are free. Tokens that it held are used. */
  bury(life: string, left: number): number {
    const share = this.shares.get(life) ?? 0;
    const back = this.isPlaces ? share : Math.min(left, share);
    this.giveBack(life, back);
    this.shares.delete(life);
    return 0;
  }

  refusal(need: number): Refusal {
    this.#asked += need;
    const available = this.available();
    const isOfOthers = this.#part < 1 && !this.isPlaces && need <= this.#limit;
    // Parts of the limit that other nodes do not use come to this one: the next token is there at the pace of the whole limit.
    const pace = isOfOthers ? this.#rate / this.#part : this.#rate;
    let wait = this.#rate > 0 && need <= this.#burst ? (need - this.#level) / pace : undefined;
    // Another node has the part that this call needs, and gives it up when it does not use it.
    if (wait === undefined && isOfOthers) wait = SHARING_MS;
    return {
      account: this.id,
      limit: this.#limit,
      left: Math.max(0, available),
      ...(wait !== undefined && { resetsAt: Math.ceil(this.#clock.wall() + Math.max(0, wait)) }),
    };
  }

  claim(life: string, amount: number, from: ClaimSource): number {
    // Tokens that a worker has were used when they were granted.
    if (!this.isPlaces) return 0;
    if (from === "here") this.level += (this.shares.get(life) ?? 0) - amount;
    else if (from === "too-late" || !this.#isResumed) this.level -= amount;
    this.shares.delete(life);
    this.#add(life, amount);
    return 0;
  }

  /** Whether the level differs from the one that was written last. */
  get isChanged(): boolean {
    return !this.isPlaces && this.#level !== this.#saved;
  }

  /** @returns the level, which is written now */
  save(): number {
    this.#fill();
    return (this.#saved = this.#level);
  }

  /** All workers have said what they have: the other places are free. */
  settle(): void {
    if (!this.isPlaces) return;
    let used = 0;
    for (const share of this.shares.values()) used += share;
    this.level = this.#burst - used;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const passed = now - this.#filledAt;
    this.#filledAt = now;
    if (passed > 0 && this.#rate > 0 && this.#level < this.#burst)
      this.level = Math.min(this.#burst, this.#level + passed * this.#rate);
  }

  #add(life: string, amount: number): void {
    const share = (this.shares.get(life) ?? 0) + amount;
    if (share <= 0) this.shares.delete(life);
    else this.shares.set(life, share);
  }
}

function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
