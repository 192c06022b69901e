/** Which ids an input has had: exact by code units, so that two Unicode forms of one word differ. */

/** Characters up to which an id is kept as it is. */
const SHORT = 64;

/** 100,000 ids of any length take at most 20 MB: of a long one only its SHA-256 is kept. */
export class IdsSeen {
  readonly #short = new Set<string>();
  readonly #long = new Set<string>();

  /** @returns whether the id is new */
  add(id: string): boolean {
    const set = id.length > SHORT ? this.#long : this.#short;
    // UTF-8 has one form for all lone surrogates.
    const kept = id.length > SHORT ? Bun.SHA256.hash(Buffer.from(id, "utf16le"), "base64") : id;
    const before = set.size;
    set.add(kept);
    return set.size > before;
  }
}
