/** Answers in memory, bounded by size and age. */
import type { CallView, ChatEvent } from "weir";

/** A complete answer. */
export interface Answer {
  events: readonly ChatEvent[];
  /** Losses of the request. Their paths are those of the format. */
  losses: CallView["losses"];
  /** Id of the client's format. */
  format: string;
}

interface Entry {
  /** The answer as JSON. */
  text: Buffer;
  /** Milliseconds of `performance.now()`. */
  expiresAt: number;
}

/** Size of an entry beside its text. Bytes. */
const ENTRY_COST = 300;
/** The largest answer is this share of the memory. */
const LARGEST_SHARE = 1 / 16;

export class Entries {
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #sweeper: ReturnType<typeof setTimeout> | undefined;

  /** @param ttlMs how long an answer is kept @param maxBytes how much memory all answers may take */
  constructor({ ttlMs, bytes }: { ttlMs: number; bytes: number }) {
    this.#ttlMs = ttlMs;
    this.#maxBytes = bytes;
  }

  get largest(): number {
    return Math.floor(this.#maxBytes * LARGEST_SHARE);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(digest: string): Answer | undefined {
    const entry = this.#entries.get(digest);
    if (!entry) return undefined;
    this.#delete(digest, entry);
    if (entry.expiresAt <= performance.now()) return undefined;
    this.#add(digest, entry);
    return JSON.parse(entry.text.toString()) as Answer;
  }

  set(digest: string, answer: Answer): void {
    const text = Buffer.from(JSON.stringify(answer));
    const known = this.#entries.get(digest);
    if (known) this.#delete(digest, known);
    if (costOf({ text }) > this.largest) return;
    this.#add(digest, { text, expiresAt: performance.now() + this.#ttlMs });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#delete(oldest, entry);
    }
    this.#sweepLater();
  }

  #add(digest: string, entry: Entry): void {
    this.#entries.set(digest, entry);
    this.#bytes += costOf(entry);
  }

  #delete(digest: string, entry: Entry): void {
    this.#entries.delete(digest);
    this.#bytes -= costOf(entry);
  }

  /** No answer stays in memory much longer than its time, also if nothing is called any more. */
  #sweepLater(): void {
    this.#sweeper ??= setTimeout(() => {
      this.#sweeper = undefined;
      const now = performance.now();
      for (const [digest, entry] of this.#entries) if (entry.expiresAt <= now) this.#delete(digest, entry);
      if (this.#entries.size > 0) this.#sweepLater();
    }, this.#ttlMs + 1).unref();
  }
}

function costOf({ text }: Pick<Entry, "text">): number {
  return text.length + ENTRY_COST;
}
