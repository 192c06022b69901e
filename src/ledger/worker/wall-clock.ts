/** The time of day of moments on the monotonic clock, without asking the system for it at each call. */

/** The offset of the two clocks is read anew after this time: the system may set its clock. Milliseconds. */
const READ_AGAIN_MS = 1000;

export class WallClock {
  readonly #read: () => number;
  #readAt = -Infinity;
  #offset = 0;

  /** @param read the time of day, milliseconds since 1970 */
  constructor(read: () => number = Date.now) {
    this.#read = read;
  }

  /** @param moment a recent moment of `performance.now()` @returns milliseconds since 1970 */
  at(moment: number): number {
    if (moment - this.#readAt > READ_AGAIN_MS) {
      this.#readAt = performance.now();
      this.#offset = this.#read() - this.#readAt;
    }
    return moment + this.#offset;
  }
}
