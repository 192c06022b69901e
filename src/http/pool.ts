/**
 * Idle connections. A request gets only connections of its own origin and pool, newest first. When there are too many in all
 * pools, the one that has been idle longest is closed. Which origins may be trusted with a second request is in {@link Trust}.
 */
import type { Connection } from "./connection.ts";
import type { Origin } from "./dial.ts";

export class Pool {
  readonly #limit: number;
  /** All idle connections, longest idle first. */
  readonly #all = new Set<Connection>();
  readonly #byOrigin = new Map<Origin, Map<string, Connection[]>>();

  /** @param limit maximum number of idle connections in all pools */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Removes and returns the newest idle connection of the pool that may be used now. */
  take(origin: Origin, pool: string, now: number): Connection | undefined {
    const idle = this.#byOrigin.get(origin)?.get(pool);
    const connection = idle?.findLast(({ readyAt }) => readyAt <= now);
    if (connection) this.remove(connection);
    return connection;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
    let pools = this.#byOrigin.get(connection.origin);
    if (!pools) this.#byOrigin.set(connection.origin, (pools = new Map()));
    const idle = pools.get(connection.pool);
    if (idle) idle.push(connection);
    else pools.set(connection.pool, [connection]);
    if (this.#all.size > this.#limit) for (const oldest of this.#all) return oldest.destroy();
  }

  /** Does nothing for a connection that is not idle. */
  remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const idle = this.#byOrigin.get(connection.origin)!.get(connection.pool)!;
    idle.splice(idle.lastIndexOf(connection), 1);
  }

  /** Removes pools without idle connections. Called periodically, because a busy pool is often empty between two calls. */
  prune(): void {
    for (const [origin, pools] of this.#byOrigin) {
      for (const [name, idle] of pools) if (idle.length === 0) pools.delete(name);
      if (pools.size === 0) this.#byOrigin.delete(origin);
    }
  }

  /** The idle connections of an origin, in all its pools. */
  of(origin: Origin): Connection[] {
    return [...(this.#byOrigin.get(origin)?.values() ?? [])].flat();
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all[Symbol.iterator]();
  }
}

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

/**
 * Decides per origin when a kept-alive connection may be reused.
 *
 * If a provider sends an unsolicited answer while a request is in flight, it is taken for the answer to that request, and the
 * true answer for that of the next request. So a connection is reused only after a delay in which the true answer would
 * arrive: then weir sees the surplus bytes and closes the connection after at most one wrong answer.
 */
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
