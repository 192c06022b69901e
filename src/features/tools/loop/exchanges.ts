/**
 * What weir's tools did in answers whose format has no words for that, and which wait for a tool of the client. The client sends
 * back its own call alone, by whose id the rest is found again.
 */
import type { Turn } from "../../../core/chat.ts";

/** How long an exchange waits for its client. Milliseconds. */
const KEEP_MS = 600_000;
/** Most exchanges, and characters of all. */
const MOST = 1_000;
const MOST_LENGTH = 33_554_432;

interface Exchange {
  readonly turns: readonly Turn[];
  readonly length: number;
  readonly until: number;
}

export class Exchanges {
  /** By owner and id of a call; the oldest first. */
  readonly #kept = new Map<string, Exchange>();
  #length = 0;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param owner who asks @param calls ids of the client's calls
   * @param turns what happened from the client's request on; the last turn of the assistant has the calls
   */
  keep(owner: string, calls: readonly string[], turns: readonly Turn[]): void {
    const { length } = JSON.stringify(turns);
    const exchange = { turns, length, until: this.#now() + KEEP_MS };
    for (const id of calls) {
      const key = keyOf(owner, id);
      this.#forget(key);
      this.#kept.set(key, exchange);
      this.#length += length;
    }
    for (const [key, { until }] of this.#kept) {
      if (this.#kept.size <= MOST && this.#length <= MOST_LENGTH && until > this.#now()) break;
      this.#forget(key);
    }
  }

  /** The conversation with all that happened in place of the turns that have the calls alone. */
  replay(owner: string, turns: readonly Turn[]): Turn[] {
    return turns.flatMap((turn) => [...(this.#find(owner, turn) ?? [turn])]);
  }

  #find(owner: string, { role, blocks }: Turn): readonly Turn[] | undefined {
    if (role !== "assistant") return undefined;
    for (const block of blocks) {
      const found = block.type === "tool-call" ? this.#kept.get(keyOf(owner, block.id)) : undefined;
      if (found && found.until > this.#now()) return found.turns;
    }
    return undefined;
  }

  #forget(key: string): void {
    this.#length -= this.#kept.get(key)?.length ?? 0;
    this.#kept.delete(key);
  }
}

function keyOf(owner: string, id: string): string {
  return `${owner}\n${id}`;
}
