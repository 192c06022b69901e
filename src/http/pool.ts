/**
 * Idle connections. A request gets only connections of its own origin and pool, newest first. When there are too many in all
 * pools, the one that has been idle longest is closed.
 */
import type { Connection } from "./connection.ts";
import type { Origin } from "./origin.ts";

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
