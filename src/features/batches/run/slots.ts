/**
 * Places for the lines of all batches of a worker. Batches of one path share theirs; a free place goes to the path with the fewest
 * running lines. The limit falls when providers say that they are busy, and rises with answers.
 */

/** What the limit rises by while as many lines as it permits end without a busy provider. */
const RISE = 1;

interface Waiting {
  readonly path: string;
  readonly go: () => void;
}

export class Slots {
  #most: number;
  readonly #isFree: (signal: AbortSignal) => Promise<void>;
  readonly #running = new Map<string, number>();
  #waiting: Waiting[] = [];
  #limit: number;
  /** Lines that still end before the limit may fall again: they began before it fell. */
  #calm = 0;
  #all = 0;
  #closedUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param isFree resolves when the process has time for a line */
  constructor(most: number, isFree: (signal: AbortSignal) => Promise<void>) {
    this.#most = most;
    this.#limit = most;
    this.#isFree = isFree;
  }

  /** A reload changes it. */
  set most(most: number) {
    this.#most = most;
    this.#limit = most;
    this.#fill();
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Resolves when a line of the path may run. @param signal gives the wait up: then the place is not taken @returns whether it is */
  async take(path: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    await this.#isFree(signal);
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: Waiting = { path, go: () => resolve(true) };
    const left = () => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      resolve(false);
    };
    signal.addEventListener("abort", left, { once: true });
    this.#waiting.push(waiting);
    this.#fill();
    const taken = await promise;
    signal.removeEventListener("abort", left);
    return taken;
  }

  /** @param retryAfter milliseconds that a provider asked for; undefined: it was not busy */
  give(path: string, isBusy: boolean, retryAfter = 0): void {
    this.#all--;
    this.#running.set(path, (this.#running.get(path) ?? 1) - 1);
    if (isBusy) this.#falls(retryAfter);
    else this.#limit = Math.min(this.#most, this.#limit + RISE / this.#limit);
    this.#calm = Math.max(0, this.#calm - 1);
    this.#fill();
  }

  /** Once for all lines that run now: what they say is one fact. */
  #falls(retryAfter: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, Date.now() + retryAfter);
    if (this.#calm > 0) return;
    this.#limit = Math.max(1, this.#limit / 2);
    this.#calm = this.#all + 1;
  }

  #fill(): void {
    const wait = this.#closedUntil - Date.now();
    if (wait > 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#fill(), wait);
      return;
    }
    while (this.#all < this.limit && this.#waiting.length > 0) {
      const next = this.#waiting.reduce((first, one) =>
        (this.#running.get(one.path) ?? 0) < (this.#running.get(first.path) ?? 0) ? one : first,
      );
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#all++;
      this.#running.set(next.path, (this.#running.get(next.path) ?? 0) + 1);
      next.go();
    }
  }
}
