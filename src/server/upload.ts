/**
 * The deadline of a request body: `bodyMs`, extended by one second for every `bodyRate` bytes received. A client whose upload
 * stalls would occupy a connection and memory.
 */
import { GatewayError } from "../core/error.ts";
import type { Clock, Watcher } from "../gateway/delivery/clock.ts";

export interface UploadLimits {
  /** Base time. Milliseconds. */
  bodyMs: number;
  /** Minimum rate after the base time. Bytes per second. */
  bodyRate: number;
}

export class Upload implements Watcher {
  place: number | undefined = undefined;
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

  /** Extends the deadline for bytes that have arrived, or that the client has declared. */
  credit(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The value of the promise, within the deadline. @throws GatewayError `timeout`, status 408, which closes the connection */
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
