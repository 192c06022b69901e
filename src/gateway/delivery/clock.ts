/**
 * One shared timer for all deadlines. A timer for each call would cost more than everything else on the hot path, so calls
 * register a watcher here, and one timer calls all watchers four times a second.
 */
import type { GatewayError } from "../../core/error.ts";

export interface Watcher {
  /** Called at each tick; must be fast and must not throw. @param now monotonic milliseconds */
  tick(now: number): void;
  /** Called when the gateway stops: aborts what the watcher watches. */
  end?(reason: GatewayError): void;
}

/** Time between two ticks. Milliseconds. */
export const TICK_MS = 250;

export class Clock {
  readonly #watchers = new Set<Watcher>();
  #timer: ReturnType<typeof setInterval> | undefined;

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Aborts all calls that still run. */
  endAll(reason: GatewayError): void {
    for (const watcher of [...this.#watchers]) watcher.end?.(reason);
  }

  get size(): number {
    return this.#watchers.size;
  }

  #tick(): void {
    const now = performance.now();
    for (const watcher of this.#watchers) watcher.tick(now);
  }
}
