/**
 * Decides per origin when a kept-alive connection may be reused.
 *
 * If a provider sends an unsolicited answer while a request is in flight, it is taken for the answer to that request, and the
 * true answer for that of the next request. So a connection is reused only after a delay in which the true answer would
 * arrive: then weir sees the surplus bytes and closes the connection after at most one wrong answer.
 */
import type { Origin } from "./origin.ts";

/** The delay is this multiple of the average response time; slower answers are rare. */
const REST = 3;
/** Weight of the newest answer in the moving average. */
const WEIGHT = 1 / 8;

interface Record {
  /** Average time from writing a request to the first byte of its answer. Milliseconds. */
  meanMs: number;
  /** Connections are not reused until this time; monotonic milliseconds. */
  distrustedUntil: number;
}

export class Trust {
  readonly #records = new WeakMap<Origin, Record>();
  readonly #distrustMs: number;

  /** @param distrustMs how long connections are not reused after their origin sent unsolicited bytes */
  constructor(distrustMs: number) {
    this.#distrustMs = distrustMs;
  }

  /** @param waitedMs from writing a request to the first byte of its answer */
  answered(origin: Origin, waitedMs: number): void {
    const record = this.#records.get(origin);
    if (record) record.meanMs += (waitedMs - record.meanMs) * WEIGHT;
    else this.#records.set(origin, { meanMs: waitedMs, distrustedUntil: 0 });
  }

  /** Minimum time between two requests on a connection. Milliseconds. */
  restMs(origin: Origin): number {
    return REST * (this.#records.get(origin)?.meanMs ?? 0);
  }

  /** Records that the origin sent bytes that answer no request. */
  distrust(origin: Origin, now: number): void {
    const distrustedUntil = now + this.#distrustMs;
    const record = this.#records.get(origin);
    if (record) record.distrustedUntil = distrustedUntil;
    else this.#records.set(origin, { meanMs: 0, distrustedUntil });
  }

  /** Whether connections to the origin must not be reused at the moment. */
  isDistrusted(origin: Origin, now: number): boolean {
    return now < (this.#records.get(origin)?.distrustedUntil ?? 0);
  }
}
