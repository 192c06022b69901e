/**
 * One shared timer for all deadlines. A timer for each call would cost more than everything else on the hot path, so calls
 * register a watcher here, and one timer calls all watchers four times a second.
 */
import type { Call } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";

export interface Watcher {
  /** The watcher's index in its clock, written by the clock alone; absent outside of a clock. */
  place?: number;
  /** The call whose deadlines it watches. */
  readonly call?: Call;
  /** Called at each tick; must be fast and must not throw. @param now monotonic milliseconds */
  tick(now: number): void;
  /** Aborts what the watcher watches. */
  end?(reason: GatewayError): void;
}

/** Time between two ticks. Milliseconds. */
export const TICK_MS = 250;

/** A watcher knows its place in the list, so that a call enters and leaves it without a look-up. */
export class Clock {
  readonly #watchers: Watcher[] = [];
  /** Runs until a tick finds no watcher: to stop and start it between two calls would cost more than the calls' deadlines. */
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Does nothing for a watcher that is in the clock. */
  add(watcher: Watcher): void {
    if (watcher.place !== undefined) return;
    watcher.place = this.#watchers.push(watcher) - 1;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** The last watcher takes the free place. Does nothing for a watcher that is not in the clock. */
  remove(watcher: Watcher): void {
    const { place } = watcher;
    if (place === undefined) return;
    watcher.place = undefined;
    const last = this.#watchers.pop()!;
    if (last === watcher) return;
    this.#watchers[place] = last;
    last.place = place;
  }

  /**
   * Ends calls that still run, with what they ask on their way: each client gets the reason in its dialect, inside of the stream
   * if the answer has begun.
   * @param matches which calls, such as those of one `principal`; absent: all
   * @returns how many
   */
  end(reason: GatewayError, matches?: (call: Call) => boolean): number {
    const ended = this.#watchers.filter(
      ({ call, end }) => end && (!matches || (call !== undefined && matches(call))),
    );
    for (const watcher of ended) watcher.end?.(reason);
    return ended.length;
  }

  /** The calls that run. */
  calls(): Call[] {
    return this.#watchers.flatMap(({ call }) => call ?? []);
  }

  get size(): number {
    return this.#watchers.length;
  }

  #tick(): void {
    if (this.#watchers.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    // Backwards: a watcher that leaves during its tick is replaced by one that has had its tick.
    for (let at = this.#watchers.length - 1; at >= 0; at--) this.#watchers[at]?.tick(now);
  }
}
