/**
 * One shared timer for all deadlines. A timer a call costs more than everything else on the hot path, so calls
 * register a watcher here and one tick a quarter of a second looks at all of them.
 */
import type { GatewayError } from "../../core/error.ts";

export interface Watcher {
  /** Looks at the time (monotonic milliseconds); must be quick and must not throw. */
  tick(now: number): void;
  /** The gateway ends: gives up what it watches. */
  end?(reason: GatewayError): void;
}

/** Milliseconds. */
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

  /** Ends every call that still runs. */
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
