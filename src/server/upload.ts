/**
 * The deadline of a request body: a client that stalls or dribbles in its upload holds a connection and memory for
 * nothing. It has `bodyMs`, and a second more for every `bodyRate` bytes that have come (failure catalogue 3.2).
 */
import { GatewayError } from "../core/error.ts";
import type { Clock, Watcher } from "../gateway/delivery/clock.ts";

export interface UploadLimits {
  /** Milliseconds. */
  bodyMs: number;
  /** Bytes that buy another second. */
  bodyRate: number;
}

export class Upload implements Watcher {
  readonly #clock: Clock;
  readonly #limits: UploadLimits;
  readonly #startedAt = performance.now();
  #bytes = 0;
  #reject: ((error: GatewayError) => void) | undefined;

  constructor(clock: Clock, limits: UploadLimits) {
    this.#clock = clock;
    this.#limits = limits;
    clock.add(this);
  }

  /** So many bytes have come, or are about to, and earn their time. */
  credit(bytes: number): void {
    this.#bytes += bytes;
  }

  /** What is read, if it comes in time. @throws GatewayError `timeout`, status 408, which closes the connection. */
  inTime<Value>(pending: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      pending.then(resolve, reject);
    });
  }

  stop(): void {
    this.#clock.remove(this);
  }

  tick(now: number): void {
    const { bodyMs, bodyRate } = this.#limits;
    if (now - this.#startedAt <= bodyMs + (this.#bytes / bodyRate) * 1000) return;
    this.stop();
    this.#reject?.(
      new GatewayError("timeout", "The request body did not arrive in time; send it without pauses.", {
        status: 408,
        code: "request_timeout",
        headers: { connection: "close" },
      }),
    );
  }
}
