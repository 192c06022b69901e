/**
 * Ends an answer whose finish reason has come and whose terminator has not. Some providers leave the connection open and
 * send nothing more: the answer is whole, so waiting for the idle timeout would turn it into a failure.
 */
import type { Clock, Watcher } from "./clock.ts";

/** Time in which usage and the terminator may still follow the finish reason. Milliseconds. */
const OVERTIME_MS = 3_500;

export class Overtime implements Watcher {
  readonly #clock: Clock;
  readonly #end: () => void;
  #since: number | undefined;

  /** @param end called once when the time is over */
  constructor(clock: Clock, end: () => void) {
    this.#clock = clock;
    this.#end = end;
  }

  /** Starts the time, unless it runs. */
  start(): void {
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.#clock.add(this);
  }

  stop(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#clock.remove(this);
  }

  tick(now: number): void {
    if (this.#since === undefined || now - this.#since < OVERTIME_MS) return;
    this.stop();
    this.#end();
  }
}
