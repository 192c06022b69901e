/** The last bytes that a program wrote. */
export class Ring {
  readonly #bytes: Uint8Array;
  /** All bytes that ever came. */
  #count = 0;

  /** @param size bytes that are kept */
  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  add(piece: Uint8Array): void {
    const size = this.#bytes.length;
    const last = piece.subarray(Math.max(0, piece.length - size));
    const at = (this.#count + piece.length - last.length) % size;
    const first = last.subarray(0, size - at);
    this.#bytes.set(first, at);
    this.#bytes.set(last.subarray(first.length), 0);
    this.#count += piece.length;
  }

  /** The bytes as text. The first line may be cut. */
  get text(): string {
    const size = this.#bytes.length;
    const at = this.#count % size;
    const parts =
      this.#count <= size
        ? [this.#bytes.subarray(0, this.#count)]
        : [this.#bytes.subarray(at), this.#bytes.subarray(0, at)];
    return Buffer.concat(parts).toString("utf8");
  }
}
