/**
 * What tells a running attempt to stop. An AbortSignal costs a short call as much as the check of its key, and most calls
 * end without anybody having asked for one: it is made for plugins when they do.
 */
import type { GatewayError } from "./error.ts";

export type StopListener = (() => void) | { handleEvent(): void };

/** As much of an AbortSignal as the gateway's own code needs; every AbortSignal is one. */
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

  /** The same as an AbortSignal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.reason) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
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
