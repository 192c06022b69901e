/** The memory of kept answers: the bytes of each answer, and a limit for all of them together. */

/** The first buffer of an answer; it doubles when it is full. Bytes. */
const FIRST_BYTES = 4 * 1024;
/** The most that one read gives. Bytes. */
const PIECE_BYTES = 64 * 1024;

const NOTHING = new Uint8Array(0);

/** Counts the bytes that all kept answers of a process take. */
export class Memory {
  #used = 0;
  readonly #limit: () => number;
  readonly #makeRoom: () => boolean;

  /** @param limit bytes @param makeRoom drops one answer; false if there is none to drop */
  constructor(limit: () => number, makeRoom: () => boolean) {
    this.#limit = limit;
    this.#makeRoom = makeRoom;
  }

  get used(): number {
    return this.#used;
  }

  /** @returns false if the bytes do not fit */
  take(bytes: number): boolean {
    while (this.#used + bytes > this.#limit()) if (!this.#makeRoom()) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** The bytes of one answer from its beginning. They are copied: a piece of a provider's answer may be a view of a large buffer. */
export class Recording {
  readonly #memory: Memory;
  readonly #most: number;
  #bytes: Uint8Array = NOTHING;
  #length = 0;

  /** @param most the longest answer. Bytes */
  constructor(memory: Memory, most: number) {
    this.#memory = memory;
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** @returns false if the answer became too long, or the memory of all answers is full; nothing is added then */
  add(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#most || !this.#reserve(length)) return false;
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** The next bytes from a position. They never change: later bytes are added behind them. */
  from(at: number): Uint8Array {
    return this.#bytes.subarray(at, Math.min(this.#length, at + PIECE_BYTES));
  }

  all(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  free(): void {
    this.#memory.give(this.#bytes.length);
    this.#bytes = NOTHING;
    this.#length = 0;
  }

  #reserve(length: number): boolean {
    const before = this.#bytes.length;
    if (length <= before) return true;
    const size = Math.min(this.#most, Math.max(length, before * 2, FIRST_BYTES));
    if (!this.#memory.take(size - before)) return false;
    const larger = new Uint8Array(size);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    return true;
  }
}
