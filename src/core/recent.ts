/** Keeps values by a hash, those that were used lately. */
export class Recent<Value> {
  readonly #most: number;
  #newer = new Map<bigint, Value>();
  #older = new Map<bigint, Value>();

  /** @param most values that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  get(hash: bigint): Value | undefined {
    const newer = this.#newer.get(hash);
    if (newer !== undefined) return newer;
    const older = this.#older.get(hash);
    return older === undefined ? undefined : this.put(hash, older);
  }

  put(hash: bigint, value: Value): Value {
    if (this.#newer.size >= this.#most / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(hash, value);
    return value;
  }
}
