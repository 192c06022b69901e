/**
 * Data that the keeper has not stored yet: records and spends, in numbered batches. A batch is sent again after a reconnection, and
 * the store applies it once. Records are written to memory that the keeper can read, so that the death of this process loses none.
 */
import type { BooksChannel } from "../channel.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { Entry, PackedBatch } from "../packed.ts";
import type { CallRecord, Spend } from "../record.ts";
import type { Share } from "./share.ts";
import { openRegion, REGION_HEADER, setUsed } from "../cells.ts";

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
      for (const price of this.#prices) this.#add({ price });
      this.#prices = [];
      this.#add(call);
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

  #add(entry: Entry): void {
    this.#entries.add(JSON.stringify(entry));
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

/** Bytes of UTF-8 of one UTF-16 code unit, at most. */
const MAX_UNIT_BYTES = 3;
const COMMA = 0x2c;

const utf8 = new TextEncoder();

/** The entries of one batch, written as bytes when they are made. */
export class Entries {
  /** Memory that the keeper can read after this process has died; absent while all of it is in use. */
  readonly region: Buffer | undefined;
  /** Records among the entries. */
  records = 0;
  #end = REGION_HEADER;
  /** Entries for which the region has no room. */
  #more: string[] = [];

  /** @param seq number of the batch */
  constructor(seq: number, region: Buffer | undefined) {
    this.region = region;
    if (region) openRegion(region, seq);
  }

  get isEmpty(): boolean {
    return this.#end === REGION_HEADER && this.#more.length === 0;
  }

  /** The last entry was too long for the rest of the region. */
  get isFull(): boolean {
    return this.region !== undefined && this.#more.length > 0;
  }

  /** @param text JSON */
  add(text: string): void {
    const { region } = this;
    const end = this.#end;
    if (!region || this.#more.length > 0 || region.length - end <= text.length * MAX_UNIT_BYTES) {
      this.#more.push(text);
      return;
    }
    let at = end;
    if (end > REGION_HEADER) region[at++] = COMMA;
    at += region.write(text, at, "utf8");
    this.#end = at;
    setUsed(region, at);
  }

  /** A copy of the entries, with commas between them, in memory of its own: other threads get whole buffers. */
  copy(): Uint8Array {
    const written = this.region?.subarray(REGION_HEADER, this.#end);
    if (this.#more.length === 0) return new Uint8Array(written ?? []);
    const start = written && written.length > 0 ? `${written.toString("utf8")},` : "";
    return utf8.encode(start + this.#more.join(","));
  }
}
