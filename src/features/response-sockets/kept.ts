/**
 * What a connection remembers of its responses that no store has: those with `store: false`, and warm-ups. A later request on the
 * connection continues them by `previous_response_id`, as at the vendor.
 */
export interface Kept {
  /** The response before it, which is kept elsewhere. */
  readonly before?: string;
  /** Items of input and output since then, as JSON; an element may hold several, with commas between them. */
  readonly items: readonly string[];
}

/** Most responses of one connection. */
const MOST = 4;
/** Characters of all items of one connection. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

export class Memory {
  readonly #kept = new Map<string, Kept>();

  get(id: unknown): Kept | undefined {
    return typeof id === "string" ? this.#kept.get(id) : undefined;
  }

  /** The oldest ones make room. */
  add(id: string, kept: Kept): void {
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST && this.#length() <= MOST_CHARACTERS) return;
      this.#kept.delete(oldest);
    }
  }

  #length(): number {
    let length = 0;
    for (const { items } of this.#kept.values()) for (const item of items) length += item.length;
    return length;
  }
}
