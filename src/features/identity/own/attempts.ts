/** Counts attempts by a name, such as an address, in the last minute. */

const MINUTE_MS = 60_000;
const MOST_NAMES = 10_000;

export class Attempts {
  readonly #most: number;
  readonly #now: () => number;
  readonly #counts = new Map<string, { from: number; count: number }>();

  /** @param most in a minute */
  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  isOver(name: string): boolean {
    return this.#countOf(name).count >= this.#most;
  }

  note(name: string): void {
    const counted = this.#countOf(name);
    counted.count++;
    this.#counts.delete(name);
    this.#counts.set(name, counted);
    if (this.#counts.size > MOST_NAMES) this.#counts.delete(this.#counts.keys().next().value!);
  }

  /** Notes an attempt. @returns whether it is not one too many */
  allows(name: string): boolean {
    if (this.isOver(name)) return false;
    this.note(name);
    return true;
  }

  #countOf(name: string): { from: number; count: number } {
    const known = this.#counts.get(name);
    const now = this.#now();
    return known && now - known.from < MINUTE_MS ? known : { from: now, count: 0 };
  }
}
