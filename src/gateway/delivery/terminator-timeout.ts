/**
 * Ends an answer that has its finish reason but not its terminator. Some providers then leave the connection open and send
 * nothing more: the answer is complete, and waiting for the idle timeout would turn it into a failure.
 */
import type { Clock, Watcher } from "./clock.ts";

/** Time in which usage and the terminator may follow the finish reason. Milliseconds. */
const TERMINATOR_MS = 3_500;
/** Time for a provider that sends an event in small pieces. Milliseconds. */
const LONGEST_MS = 30_000;

export class TerminatorTimeout implements Watcher {
  place: number | undefined = undefined;
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #since: number | undefined;
  #startedAt = 0;

  /** @param onTimeout called once after the timeout */
  constructor(clock: Clock, onTimeout: () => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** Starts the timeout, unless it runs. */
  start(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#startedAt = performance.now();
    this.#clock.add(this);
  }

  /** Part of an event has come: the timeout resets, so that an event is not cut while it arrives. */
  postpone(): void {
    this.start();
    const now = performance.now();
    if (now - this.#startedAt < LONGEST_MS) this.#since = now;
  }

  stop(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#clock.remove(this);
  }

  tick(now: number): void {
    if (this.#since === undefined || now - this.#since < TERMINATOR_MS) return;
    this.stop();
    this.#onTimeout();
  }
}
