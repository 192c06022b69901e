/**
 * How far a kept connection is trusted to answer the request it was sent, by origin.
 *
 * An answer that comes unasked while a request is on its way is taken for the answer of that request, and the true answer
 * then for that of the next one. So a reused connection rests until its true answer, had it been mistaken, would have
 * come: then the mistake shows, and the connection is closed after one wrong answer instead of going on with them.
 */
import type { Origin } from "./origin.ts";

/** Answers that take longer than this many times the average are rare. */
const REST = 3;
/** Weight of the newest answer in the average. */
const WEIGHT = 1 / 8;

interface Record {
  /** Average time from writing a request to the first byte of its answer. Milliseconds. */
  meanMs: number;
  /** Until when connections are not reused; monotonic milliseconds. */
  distrustedUntil: number;
}

export class Trust {
  readonly #records = new WeakMap<Origin, Record>();
  readonly #distrustMs: number;

  /** @param distrustMs how long connections to an origin are not reused after it sent bytes that answer no request */
  constructor(distrustMs: number) {
    this.#distrustMs = distrustMs;
  }

  /** @param waitedMs from writing a request to the first byte of its answer */
  answered(origin: Origin, waitedMs: number): void {
    const record = this.#records.get(origin);
    if (record) record.meanMs += (waitedMs - record.meanMs) * WEIGHT;
    else this.#records.set(origin, { meanMs: waitedMs, distrustedUntil: 0 });
  }

  /** How long after writing a request a reused connection may carry the next one. Milliseconds. */
  restMs(origin: Origin): number {
    return REST * (this.#records.get(origin)?.meanMs ?? 0);
  }

  /** The origin sent bytes that answer no request. */
  distrust(origin: Origin, now: number): void {
    const distrustedUntil = now + this.#distrustMs;
    const record = this.#records.get(origin);
    if (record) record.distrustedUntil = distrustedUntil;
    else this.#records.set(origin, { meanMs: 0, distrustedUntil });
  }

  /** Whether connections to the origin must not be reused. */
  isDistrusted(origin: Origin, now: number): boolean {
    return now < (this.#records.get(origin)?.distrustedUntil ?? 0);
  }
}
