/** Readers of containers as steps: what comes next is taken or skipped, and bytes that were read are not kept. */

/** More steps than a file of several hours has: what needs more has no length. Keeps a hostile file from taking seconds. */
const MOST_STEPS = 1_000_000;

/** What a reader of a container needs next: bytes, at most `MOST_TAKEN`, or that bytes are passed over. */
export type Want = { take: number } | { skip: number };

/** A reader of a container. Returns the seconds of its audio; `undefined` if it does not say. */
export type Reading = Generator<Want, number | undefined, Uint8Array | number>;

/** A step of a reader. */
export type Step<Result> = Generator<Want, Result, Uint8Array | number>;

/** Longest piece that a reader takes at once. Bytes. */
export const MOST_TAKEN = 4096;

/** The next bytes; fewer where the file ends. A later step changes them. */
export function* take(length: number): Step<Uint8Array> {
  return (yield { take: Math.min(length, MOST_TAKEN) }) as Uint8Array;
}

/** Passes over bytes. @returns how many there were */
export function* skip(length: number): Step<number> {
  return length > 0 ? ((yield { skip: length }) as number) : 0;
}

/** Runs a reader over bytes that arrive in pieces. */
export class Stepper {
  readonly #reading: Reading;
  readonly #taken = new Uint8Array(MOST_TAKEN);
  #filled = 0;
  #skipped = 0;
  #want: Want | undefined;
  #steps = 0;
  /** What the reader returned. */
  seconds: number | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#note(reading.next());
  }

  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && this.#want;) {
      const want = this.#want;
      if ("skip" in want) {
        const passed = Math.min(want.skip - this.#skipped, piece.length - at);
        this.#skipped += passed;
        at += passed;
        if (this.#skipped === want.skip) this.#go(this.#skipped);
        continue;
      }
      const copied = Math.min(want.take - this.#filled, piece.length - at);
      this.#taken.set(piece.subarray(at, at + copied), this.#filled);
      this.#filled += copied;
      at += copied;
      if (this.#filled === want.take) this.#go(this.#taken.subarray(0, this.#filled));
    }
  }

  /** The file has ended: the reader gets what is there, and nothing from then on. */
  end(): void {
    // Each reader stops at the first short answer; the limit holds for one that does not.
    for (let steps = 0; this.#want && steps < 16; steps++)
      this.#go("skip" in this.#want ? this.#skipped : this.#taken.subarray(0, this.#filled));
  }

  #go(given: Uint8Array | number): void {
    this.#filled = 0;
    this.#skipped = 0;
    this.#note(this.#reading.next(given));
  }

  #note({ done, value }: IteratorResult<Want, number | undefined>): void {
    this.#want = done || ++this.#steps > MOST_STEPS ? undefined : value;
    if (done) this.seconds = value;
  }
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const u16le = (bytes: Uint8Array, at: number): number => view(bytes).getUint16(at, true);
export const u32le = (bytes: Uint8Array, at: number): number => view(bytes).getUint32(at, true);
export const u32 = (bytes: Uint8Array, at: number): number => view(bytes).getUint32(at);
/** Not exact beyond 2^53, which no length of a file reaches. */
export const u64le = (bytes: Uint8Array, at: number): number =>
  u32le(bytes, at + 4) * 2 ** 32 + u32le(bytes, at);
export const u64 = (bytes: Uint8Array, at: number): number => u32(bytes, at) * 2 ** 32 + u32(bytes, at + 4);

/** Four letters. */
export function ascii(bytes: Uint8Array, at: number, length = 4): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}
