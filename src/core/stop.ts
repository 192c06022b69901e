/**
 * Tells a running attempt to stop. Creating an AbortSignal is as expensive as checking the gateway key, and most calls never
 * use one, so it is created only when a plugin asks for it.
 */
import type { GatewayError } from "./error.ts";

export type StopListener = (() => void) | { handleEvent(): void };

/** The part of AbortSignal that the gateway's own code needs. Every AbortSignal implements it. */
export interface Stoppable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: StopListener): void;
  removeEventListener(type: "abort", listener: StopListener): void;
}

export class Stop implements Stoppable {
  reason: GatewayError | undefined;
  readonly #listeners: StopListener[] = [];
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  /** An AbortSignal with the same state, created on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.reason) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** Only the first reason is kept. */
  abort(reason: GatewayError): void {
    if (this.reason) return;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners.splice(0))
      if (typeof listener === "function") listener();
      else listener.handleEvent();
  }

  addEventListener(_type: "abort", listener: StopListener): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: StopListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }
}
