/**
 * Calls in flight at the deployments that have a limit of their own. There is no queue: a call that finds no room goes
 * elsewhere or is told so, because a hidden queue only moves the wait to where nobody sees it.
 */
import type { Attempt } from "../../core/call.ts";
import type { Deployment } from "../../core/provider.ts";

export class ConcurrencyLimiter {
  /** By the deployment's name; nothing is kept where nothing is limited. */
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

  /** A second time changes nothing: a client that leaves ends its call before the attempt has noticed. */
  leave(attempt: Attempt): void {
    const { name, concurrency } = attempt.target.deployment;
    if (concurrency !== undefined) this.#inFlight.get(name)?.delete(attempt);
  }
}
