/** Bytes of one line or one item, which may come in several chunks. */

/** Bytes of the buffer at first; it doubles while a part needs more. */
const FIRST_BYTES = 64 * 1024;

/** Joins the chunks of one part after the other in one buffer, and keeps no more of a part than its limit. */
export class Gather {
  readonly #limit: number;
  #buffer = Buffer.alloc(0);
  #kept = 0;
  /** Bytes of the part, those beyond the limit included. */
  size = 0;

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isTooLarge(): boolean {
    return this.size > this.#limit;
  }

  add(bytes: Uint8Array): void {
    this.size += bytes.length;
    if (this.isTooLarge) return;
    const end = this.#kept + bytes.length;
    if (end > this.#buffer.length) this.#grow(end);
    this.#buffer.set(bytes, this.#kept);
    this.#kept = end;
  }

  /**
   * Ends the part. @param last its last bytes, of which a part in one chunk needs no copy
   * @returns the part, valid until the next `add`; no bytes if it is too large
   */
  end(last: Uint8Array): Uint8Array {
    const isWhole = this.size === 0;
    if (isWhole) this.size = last.length;
    else this.add(last);
    const part = isWhole ? last : this.#buffer.subarray(0, this.#kept);
    return this.isTooLarge ? part.subarray(0, 0) : part;
  }

  /** Begins the next part. */
  clear(): void {
    this.size = 0;
    this.#kept = 0;
  }

  #grow(least: number): void {
    const larger = Buffer.alloc(Math.min(this.#limit, Math.max(FIRST_BYTES, 2 * this.#buffer.length, least)));
    larger.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = larger;
  }
}
