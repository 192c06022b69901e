/**
 * Data that the keeper has not stored yet: records and spends, in numbered batches. A batch is sent again after a reconnection, and
 * the store applies it once. Records are written to memory that the keeper can read, so that the death of this process loses none.
 */
import type { BooksChannel } from "../channel.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { PackedBatch } from "../packed.ts";
import type { CallRecord, Spend } from "../record.ts";
import type { Share } from "./share.ts";
import { Entries } from "./entries.ts";
import { RecordWriter } from "./record-writer.ts";

/** Longest wait of a record. Milliseconds. */
const BATCH_MS = 50;
/** A batch with so many records does not wait. */
const BATCH_RECORDS = 500;
/** Most records that wait for the keeper; further ones are dropped and counted. */
const MAX_RECORDS = 16_384;
/** While so many batches are not stored, no other is sent. */
const MAX_BATCHES = 64;

interface Unstored {
  batch: PackedBatch;
  entries: Entries;
}

export class Outbox {
  readonly #channel: BooksChannel;
  /** Regions that no batch is in. */
  readonly #free: Buffer[];
  #entries: Entries;
  readonly #writer = new RecordWriter((words, length) => this.#entries.add(words, length));
  #dirty: Share[] = [];
  /** Rules that no batch has yet. */
  #prices: PriceRule[] = [];
  #dropped = 0;
  readonly #known = new Set<string>();
  #unstored: Unstored[] = [];
  /** Number of records that are not stored. */
  #waiting = 0;
  #seq = 0;
  #timer: Timer | undefined;

  /** @param regions memory that outlives this process */
  constructor(channel: BooksChannel, regions: readonly Buffer[] = []) {
    this.#channel = channel;
    this.#free = [...regions];
    this.#entries = this.#begin();
  }

  /** The number of the newest batch. */
  get seq(): number {
    return this.#seq;
  }

  get isEmpty(): boolean {
    return this.#unstored.length === 0 && !this.#hasMore;
  }

  get #hasMore(): boolean {
    return !this.#entries.isEmpty || this.#dirty.length > 0 || this.#dropped > 0;
  }

  record(call: CallRecord): void {
    if (this.#waiting >= MAX_RECORDS) this.#dropped++;
    else {
      this.#waiting++;
      this.#entries.records++;
      if (this.#prices.length > 0) this.#writePrices();
      this.#writer.record(call);
      if (this.#entries.records >= BATCH_RECORDS || this.#entries.isFull) this.flush();
    }
    this.#schedule();
  }

  /** A charge that refers to a price rule will be in a record. */
  use(rule: PriceRule): void {
    if (this.#known.has(rule.ref)) return;
    this.#known.add(rule.ref);
    this.#prices.push(rule);
  }

  #writePrices(): void {
    for (const price of this.#prices) this.#writer.json({ price });
    this.#prices = [];
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
    if (batch) this.#channel.sendBatch(batch);
  }

  /** Makes a batch of all that waits. @returns undefined if nothing does */
  seal(): PackedBatch | undefined {
    if (!this.#hasMore) return undefined;
    const entries = this.#entries;
    const batch: PackedBatch = {
      seq: ++this.#seq,
      entries: entries.copy(),
      spends: this.#dirty.map(takeSpend),
      ...(this.#dropped > 0 && { dropped: this.#dropped }),
    };
    this.#dirty = [];
    this.#dropped = 0;
    this.#unstored.push({ batch, entries });
    this.#entries = this.#begin();
    return batch;
  }

  #begin(): Entries {
    this.#writer.begin();
    return new Entries(this.#seq + 1, this.#free.pop());
  }

  /** The connection is new: what the keeper may not have received. */
  resend(): void {
    for (const { batch } of this.#unstored) this.#channel.sendBatch(batch);
  }

  /** The keeper has stored all batches up to a number. */
  stored(seq: number): void {
    let count = 0;
    while (count < this.#unstored.length && this.#unstored[count]!.batch.seq <= seq) {
      const { records, region } = this.#unstored[count++]!.entries;
      this.#waiting -= records;
      if (region) this.#free.push(region);
    }
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
