/** How often a batch of a provider is looked at: seldom, and at once when something has happened. */
import { sleep } from "../run/sleep.ts";

/** Each wait is longer than the one before. */
const GROWTH = 1.5;
/** Waits differ by this share, so that many batches do not ask at the same time. */
const JITTER = 0.2;
/** Milliseconds. */
const LONGEST_MS = 300_000;

export class Pace {
  readonly #first: number;
  readonly #over = new AbortController();
  #wake = new AbortController();
  #next: number;

  /** @param first milliseconds of the first wait */
  constructor(first: number) {
    this.#first = first;
    this.#next = first;
  }

  /** Nothing is asked any more. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Waits longer each time. @param least milliseconds that the host has asked for */
  async next(least = 0): Promise<void> {
    const wait = Math.max(least, this.#next * (1 - JITTER + 2 * JITTER * Math.random()));
    this.#next = Math.min(LONGEST_MS, this.#next * GROWTH);
    await this.wait(wait);
  }

  async wait(ms: number): Promise<void> {
    await sleep(ms, this.#wake.signal);
    if (!this.isOver) this.#wake = new AbortController();
  }

  /** The next look is at once, and those behind it are as at the beginning. */
  hurry(): void {
    this.#next = this.#first;
    this.#wake.abort();
  }

  end(): void {
    this.#over.abort();
    this.#wake.abort();
  }
}
