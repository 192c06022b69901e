/** What limits attempts: the retry budget of all calls, and the concurrency limit of a deployment. */
import { isBackground, mostInBackground } from "../../core/background.ts";
import type { Attempt, Call } from "../../core/call.ts";
import type { Deployment } from "../../core/provider.ts";

const SHARE = 0.2;
const ALWAYS_ALLOWED = 3;
/** Waits above this use the budget for long waits. Milliseconds. */
const LONG_WAIT_MS = 1_000;

/** A unit of the retry budget: for a short or a long wait. {@link RetryBudget.release} returns it. */
export type RetrySlot = "short" | "long";

/**
 * At most a fifth of the running calls may be in a retry at a time; three are always allowed. Without this budget, retries would
 * add load to a provider that already fails. Retries with a long wait (a provider's `retry-after`) have a budget of the same size
 * of their own, so that they do not block retries that go to another deployment at once.
 */
export class RetryBudget {
  #running = 0;
  readonly #taken: Record<RetrySlot, number> = { short: 0, long: 0 };

  get running(): number {
    return this.#running;
  }

  /** A call begins. */
  enter(): void {
    this.#running++;
  }

  /** A call ends. */
  leave(): void {
    this.#running--;
  }

  /** A slot for a retry after `waitMs` milliseconds; `undefined` if the budget is used up. */
  take(waitMs: number): RetrySlot | undefined {
    const slot = waitMs > LONG_WAIT_MS ? "long" : "short";
    if (this.#taken[slot] >= Math.max(ALWAYS_ALLOWED, Math.floor(this.#running * SHARE))) return undefined;
    this.#taken[slot]++;
    return slot;
  }

  release(slot: RetrySlot): void {
    this.#taken[slot]--;
  }
}

/**
 * Calls in flight at the deployments with a concurrency limit. There is no queue: a call beyond the limit goes to another
 * deployment or fails at once, because a wait in a queue would be invisible to the client's own timeout and retries.
 */
export class ConcurrencyLimiter {
  /** By deployment name; deployments without a limit have no entry. */
  readonly #inFlight = new Map<string, Set<Attempt>>();

  /** @param call absent: a call of a client */
  isFull({ name, concurrency }: Deployment, call?: Call): boolean {
    if (concurrency === undefined) return false;
    const most = call && isBackground.get(call) ? mostInBackground(concurrency) : concurrency;
    return (this.#inFlight.get(name)?.size ?? 0) >= most;
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
