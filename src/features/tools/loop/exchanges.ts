/**
 * What weir's tools did in answers whose format has no words for that, and which wait for a tool of the client. The client sends
 * back its own call alone, by whose id the rest is found again.
 */
/** How long an exchange waits for its client. Milliseconds. */
const KEEP_MS = 600_000;
/** Most calls that wait, and characters of all; of one owner, so that none drives out those of others, and together. */
const OF_OWNER = { calls: 500, length: 16_777_216 };
const IN_ALL = { calls: 4_000, length: 67_108_864 };

interface Exchange {
  /** Turns, as JSON. */
  readonly text: string;
  readonly owner: string;
  readonly until: number;
}

interface Sums {
  calls: number;
  length: number;
}

export class Exchanges {
  /** By owner and id of a call; the oldest first. */
  readonly #kept = new Map<string, Exchange>();
  readonly #owners = new Map<string, Sums>();
  readonly #all: Sums = { calls: 0, length: 0 };
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param owner who asks @param calls ids of the client's calls @param text what happened, as JSON */
  keep(owner: string, calls: readonly string[], text: string): void {
    for (const id of calls) {
      const key = keyOf(owner, id);
      this.#forget(key);
      this.#kept.set(key, { text, owner, until: this.#now() + KEEP_MS });
      this.#count(owner, 1, text.length);
    }
    this.#shorten(() => isOver(this.#all, IN_ALL));
    this.#shorten(() => isOver(this.#owners.get(owner), OF_OWNER), owner);
  }

  /** @param calls ids of the client's calls, for each turn of the assistant @returns what happened in each; undefined where nothing is kept */
  find(owner: string, calls: readonly (readonly string[])[]): (string | undefined)[] {
    return calls.map((ids) => {
      const found = ids.map((id) => this.#kept.get(keyOf(owner, id)));
      return found.find((one) => one && one.until > this.#now())?.text;
    });
  }

  /** Forgets the oldest while there are too many, and those that are too old. */
  #shorten(isTooMuch: () => boolean, owner?: string): void {
    for (const [key, { until, owner: of }] of this.#kept) {
      if (owner !== undefined && of !== owner) continue;
      if (!isTooMuch() && until > this.#now()) break;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    const found = this.#kept.get(key);
    if (!found) return;
    this.#kept.delete(key);
    this.#count(found.owner, -1, -found.text.length);
  }

  #count(owner: string, calls: number, length: number): void {
    const own = this.#owners.get(owner) ?? { calls: 0, length: 0 };
    for (const sums of [own, this.#all]) {
      sums.calls += calls;
      sums.length += length;
    }
    if (own.calls === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, own);
  }
}

function isOver(sums: Sums | undefined, most: Sums): boolean {
  return sums !== undefined && (sums.calls > most.calls || sums.length > most.length);
}

function keyOf(owner: string, id: string): string {
  return `${owner}\n${id}`;
}
