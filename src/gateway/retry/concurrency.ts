/**
 * Calls in flight at the deployments with a concurrency limit. There is no queue: a call beyond the limit goes to another
 * deployment or fails at once, because a wait in a queue would be invisible to the client's own timeout and retries.
 */
import type { Attempt } from "../../core/call.ts";
import type { Deployment } from "../../core/provider.ts";

export class ConcurrencyLimiter {
  /** By deployment name; deployments without a limit have no entry. */
  readonly #inFlight = new Map<string, Set<Attempt>>();

  isFull({ name, concurrency }: Deployment): boolean {
    return concurrency !== undefined && (this.#inFlight.get(name)?.size ?? 0) >= concurrency;
  }

  enter(attempt: Attempt): void {
    const { name, concurrency } = attempt.target.deployment;
    if (concurrency === undefined) return;
    const inFlight = this.#inFlight.get(name);
    if (inFlight) inFlight.add(attempt);
    else this.#inFlight.set(name, new Set([attempt]));
  }

  /** Idempotent: when the client disconnects, the call and its attempt both end here. */
  leave(attempt: Attempt): void {
    const { name, concurrency } = attempt.target.deployment;
    if (concurrency !== undefined) this.#inFlight.get(name)?.delete(attempt);
  }
}
