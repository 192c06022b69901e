/** The entries of one batch, written as bytes when they are made. */
import { openRegion, REGION_HEADER, setUsed } from "../cells.ts";

const WORD = 4;
/** First size of the memory for what the region has no room for. Words. */
const MORE_WORDS = 4_096;
/** Room for a record with its texts, at most. Words. */
const SPARE_WORDS = 256;

export class Entries {
  /** Memory that the keeper can read after this process has died; absent while all of it is in use. */
  readonly region: Buffer | undefined;
  /** Records among the entries. */
  records = 0;
  readonly #words: Int32Array | undefined;
  /** Words of the region that are used. */
  #end = REGION_HEADER / WORD;
  /** Entries for which the region has no room. */
  #more: Int32Array | undefined;
  #moreEnd = 0;

  /** @param seq number of the batch @param region begins at a multiple of 8 bytes */
  constructor(seq: number, region: Buffer | undefined) {
    this.region = region;
    if (!region) return;
    this.#words = new Int32Array(region.buffer, region.byteOffset, region.length >> 2);
    openRegion(region, seq);
  }

  get isEmpty(): boolean {
    return this.#end === REGION_HEADER / WORD && this.#moreEnd === 0;
  }

  /** The region has no room for another record of usual length, so that all of a batch is in it. */
  get isFull(): boolean {
    const words = this.#words;
    return words !== undefined && (this.#more !== undefined || words.length - this.#end < SPARE_WORDS);
  }

  /** Copies an entry. @param length in words */
  add(entry: Int32Array, length: number): void {
    const words = this.#words;
    const end = this.#end;
    if (!words || this.#more || words.length - end < length) return this.#addMore(entry, length);
    // An entry is short: the call of a function that copies would take longer.
    for (let at = 0; at < length; at++) words[end + at] = entry[at]!;
    this.#end = end + length;
    setUsed(this.region!, this.#end * WORD);
  }

  #addMore(entry: Int32Array, length: number): void {
    const needed = this.#moreEnd + length;
    if (!this.#more || needed > this.#more.length) {
      const grown = new Int32Array(Math.max(needed, 2 * (this.#more?.length ?? MORE_WORDS / 2)));
      if (this.#more) grown.set(this.#more);
      this.#more = grown;
    }
    this.#more.set(entry.subarray(0, length), this.#moreEnd);
    this.#moreEnd = needed;
  }

  /** A copy of the entries in memory of its own: other threads get whole buffers. */
  copy(): Uint8Array {
    const written = this.#end * WORD - REGION_HEADER;
    const copied = new Uint8Array(written + this.#moreEnd * WORD);
    if (this.region) copied.set(this.region.subarray(REGION_HEADER, this.#end * WORD));
    if (this.#more) copied.set(new Uint8Array(this.#more.buffer, 0, this.#moreEnd * WORD), written);
    return copied;
  }
}
