/**
 * What the keeper has not stored yet: records and spends, in numbered batches. A batch is sent again after a reconnection, and
 * the store applies it once.
 */
import type { BooksChannel } from "../channel.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { CallRecord, RecordBatch, Spend } from "../record.ts";
import type { Share } from "./share.ts";

/** Longest wait of a record. Milliseconds. */
const BATCH_MS = 50;
/** A batch with so many records does not wait. */
const BATCH_RECORDS = 500;
/** Most records that wait for the keeper; further ones are dropped and counted. */
const MAX_RECORDS = 16_384;
/** While so many batches are not stored, no other is sent. */
const MAX_BATCHES = 64;

export class Outbox {
  readonly #channel: BooksChannel;
  #calls: CallRecord[] = [];
  #dirty: Share[] = [];
  #prices: PriceRule[] = [];
  #dropped = 0;
  readonly #known = new Set<string>();
  #unstored: RecordBatch[] = [];
  /** Number of records in `#calls` and `#unstored`. */
  #waiting = 0;
  #seq = 0;
  #timer: Timer | undefined;

  constructor(channel: BooksChannel) {
    this.#channel = channel;
  }

  /** The number of the newest batch. */
  get seq(): number {
    return this.#seq;
  }

  get isEmpty(): boolean {
    return this.#unstored.length === 0 && !this.#hasMore;
  }

  get #hasMore(): boolean {
    return this.#calls.length > 0 || this.#dirty.length > 0 || this.#dropped > 0;
  }

  record(call: CallRecord): void {
    if (this.#waiting >= MAX_RECORDS) this.#dropped++;
    else {
      this.#waiting++;
      if (this.#calls.push(call) >= BATCH_RECORDS) this.flush();
    }
    this.#schedule();
  }

  /** A charge that refers to a price rule will be in a record. */
  use(rule: PriceRule): void {
    if (this.#known.has(rule.ref)) return;
    this.#known.add(rule.ref);
    this.#prices.push(rule);
  }

  spend(share: Share, { state, cost }: Charge, held: number): void {
    if (state === "assumed") share.assumed += cost;
    else share.spent += cost;
    if (cost > held) share.overrun += cost - held;
    if (share.isDirty) return;
    share.isDirty = true;
    this.#dirty.push(share);
    this.#schedule();
  }

  /** Seals a batch of all that waits, and sends it. */
  flush(): void {
    if (!this.#channel.isUp || this.#unstored.length >= MAX_BATCHES) return;
    const batch = this.seal();
    if (batch) this.#channel.send({ kind: "records", batch });
  }

  /** Makes a batch of all that waits. @returns undefined if nothing does */
  seal(): RecordBatch | undefined {
    if (!this.#hasMore) return undefined;
    const batch: RecordBatch = {
      seq: ++this.#seq,
      calls: this.#calls,
      spends: this.#dirty.map(takeSpend),
      ...(this.#dropped > 0 && { dropped: this.#dropped }),
      prices: this.#prices,
    };
    this.#calls = [];
    this.#dirty = [];
    this.#prices = [];
    this.#dropped = 0;
    this.#unstored.push(batch);
    return batch;
  }

  /** The connection is new: what the keeper may not have received. */
  resend(): void {
    for (const batch of this.#unstored) this.#channel.send({ kind: "records", batch });
  }

  /** The keeper has stored all batches up to a number. */
  stored(seq: number): void {
    let count = 0;
    while (count < this.#unstored.length && this.#unstored[count]!.seq <= seq)
      this.#waiting -= this.#unstored[count++]!.calls.length;
    this.#unstored = this.#unstored.slice(count);
    if (this.#hasMore) this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, BATCH_MS);
    this.#timer.unref?.();
  }
}

function takeSpend(share: Share): Spend {
  const { account, spent, assumed, overrun } = share;
  share.spent = share.assumed = share.overrun = 0;
  share.isDirty = false;
  return { account, spent, assumed, overrun };
}
