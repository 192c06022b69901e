/**
 * Places for the lines of all batches of a worker. Batches of one path share theirs; a free place goes to the path with the fewest
 * running lines. The limit falls when providers say that they are busy, and rises with answers.
 */

/** Lines by which the limit of a path rises for each answered one, at most to the limit of all. */
const RISE = 0.25;
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
    this.#limit = isBusy
      ? Math.max(1, this.#limit / 2)
      : Math.min(this.#most, this.#limit + RISE / Math.max(1, this.#limit));
    if (isBusy) this.#closedUntil = Math.max(this.#closedUntil, Date.now() + retryAfter);
    this.#fill();
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
