/**
 * The requests whose clients got no answer and may repeat them, though no answer is kept. A repeat that could be one of these is
 * a new call, also if another client asked the same and its answer is kept.
 */

/** Most entries; beyond it every repeat without an idempotency key is a new call. */
const MOST = 10_000;

interface Entry {
  times: number;
  until: number;
}

export class Refusals {
  readonly #entries = new Map<string, Entry>();
  #fullUntil = 0;

  /** @param digest of the request, or of the client of a request that weir has not read @param count its retry count @param until monotonic milliseconds */
  note(digest: string, count: number, until: number): void {
    const name = nameOf(digest, count);
    const times = (this.#entries.get(name)?.times ?? 0) + 1;
    this.#entries.delete(name);
    this.#entries.set(name, { times, until });
    if (this.#entries.size > MOST) this.#forgetOldest();
  }

  /** Whether a client may repeat such a request. */
  has(digest: string, count: number, now: number): boolean {
    if (now < this.#fullUntil) return true;
    const found = this.#entries.get(nameOf(digest, count));
    return found !== undefined && now < found.until;
  }

  /** A client has repeated such a request. */
  take(digest: string, count: number): void {
    const name = nameOf(digest, count);
    const found = this.#entries.get(name);
    if (found && --found.times === 0) this.#entries.delete(name);
  }

  #forgetOldest(): void {
    const [name, { until }] = this.#entries.entries().next().value!;
    this.#fullUntil = Math.max(this.#fullUntil, until);
    this.#entries.delete(name);
  }
}

function nameOf(digest: string, count: number): string {
  return `${digest} ${count}`;
}
