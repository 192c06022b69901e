/**
 * What is known of the deployments, by name and model: it outlives a reload of the config. Nothing is kept about those
 * that do not fail, so that a healthy gateway pays one look into an empty map a call.
 */
import type { Attempt, Call } from "../../core/call.ts";
import type { Target } from "../../core/provider.ts";
import type { Failure } from "./failure.ts";
import type { BreakerState } from "./circuit-breaker.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { RetryBudget } from "./retry-budget.ts";
import { ConcurrencyLimiter } from "./concurrency.ts";

/** Model names come from clients: so many are remembered at most. */
const REMEMBERED = 2_000;

/** How long a deployment is left alone that refuses its credential or has no funds. Milliseconds. */
const REFUSED_MS = 300_000;

export interface HealthOptions {
  /** Hears of what an operator has to see to: a credential that is refused, an account without funds. */
  onAlert?(sentence: string): void;
  /** Hears of deployments that are left alone for a while, and of those that answer again. */
  onChange?(sentence: string): void;
  random?(): number;
}

/**
 * How a target stands, and when it may be tried if not now (monotonic milliseconds). `full`: as many calls are in flight
 * there as may be.
 */
export interface Outlook {
  standing: BreakerState | "full";
  opensAt: number;
}

const UNKNOWN: Outlook = { standing: "closed", opensAt: 0 };
const FULL: Outlook = { standing: "full", opensAt: Infinity };

export class Health {
  readonly budget = new RetryBudget();
  readonly #rooms = new ConcurrencyLimiter();
  readonly #breakers = new Map<string, CircuitBreaker>();
  readonly #options: HealthOptions;

  constructor(options: HealthOptions = {}) {
    this.#options = options;
  }

  isFull({ deployment }: Target): boolean {
    return this.#rooms.isFull(deployment);
  }

  outlook(target: Target, now = performance.now()): Outlook {
    if (this.isFull(target)) return FULL;
    const breaker = this.#find(target);
    return breaker ? { standing: breaker.standing(now), opensAt: breaker.opensAt } : UNKNOWN;
  }

  /** An attempt goes out. */
  begin(call: Call, attempt: Attempt): void {
    if (call.attempts.length === 1) this.budget.enter();
    this.#rooms.enter(attempt);
    this.#find(attempt.target)?.begin(attempt);
  }

  /** Its answer began. */
  answered(attempt: Attempt, now = performance.now()): void {
    const breaker = this.#find(attempt.target);
    if (!breaker) return;
    const before = breaker.standing(now);
    breaker.answered(attempt);
    if (before !== "closed" && breaker.standing(now) === "closed")
      this.#options.onChange?.(`${keyOf(attempt.target)} answers again`);
  }

  /** It failed before a byte of it reached the client. */
  failed(attempt: Attempt, failure: Failure, now = performance.now()): void {
    this.#rooms.leave(attempt);
    switch (failure.verdict) {
      case "innocent":
        return this.#find(attempt.target)?.release(attempt);
      case "healthy":
        return this.#find(attempt.target)?.succeed(attempt, now);
      case "failing":
        return this.#fail(attempt, now);
      case "limited":
        return this.#breaker(attempt.target, now).pause(attempt, now, failure.retryAfterMs);
      case "refused":
        return this.#refused(attempt, failure, now);
    }
  }

  #fail(attempt: Attempt, now: number): void {
    const breaker = this.#breaker(attempt.target, now);
    const before = breaker.opensAt;
    breaker.fail(attempt, now);
    if (breaker.opensAt === before) return;
    const rest = `it is left alone for ${Math.round((breaker.opensAt - now) / 1000)} s where another can answer`;
    this.#options.onChange?.(`${keyOf(attempt.target)} fails (${attempt.failure?.what}); ${rest}`);
  }

  /** Somebody has to see to it; it is said when it begins, and again after each time it was tried in vain. */
  #refused(attempt: Attempt, { what, retryAfterMs = REFUSED_MS }: Failure, now: number): void {
    const breaker = this.#breaker(attempt.target, now);
    const isNews = breaker.standing(now) !== "paused" || breaker.isProbe(attempt);
    breaker.pause(attempt, now, retryAfterMs);
    if (!isNews) return;
    const { name } = attempt.target.deployment;
    const rest = `; it is left alone for ${Math.round(retryAfterMs / 1000)} s where another can answer`;
    this.#options.onAlert?.(`${name} refuses its credential or has no funds (${what})${rest}`);
  }

  /** The call is over; an answer that had begun counts by how it ended. */
  settled(call: Call, now = performance.now()): void {
    const attempt = call.attempts.at(-1);
    if (!attempt) return;
    this.budget.leave();
    if (attempt.failure) return;
    this.#rooms.leave(attempt);
    if (call.outcome === "failed" && !call.abortReason) this.#broke(call, attempt, now);
    else this.#ended(call, attempt, now);
  }

  /** It broke in mid-answer: by the upstream, or by a fault of our own, which says nothing of it. */
  #broke(call: Call, attempt: Attempt, now: number): void {
    const ms = Math.round(now - attempt.startedAt);
    attempt.failure = { class: "started", what: call.error?.code ?? call.error?.kind ?? "broken", ms };
    if (call.error?.kind === "internal" && attempt.target.lane !== "generated")
      this.#find(attempt.target)?.release(attempt);
    else this.#fail(attempt, now);
  }

  #ended(call: Call, attempt: Attempt, now: number): void {
    const breaker = this.#find(attempt.target);
    if (!breaker) return;
    if (call.outcome !== "complete") return breaker.release(attempt);
    breaker.succeed(attempt, now);
    if (breaker.isClean(now)) this.#breakers.delete(keyOf(attempt.target));
  }

  #find(target: Target): CircuitBreaker | undefined {
    return this.#breakers.size === 0 ? undefined : this.#breakers.get(keyOf(target));
  }

  #breaker(target: Target, now: number): CircuitBreaker {
    const key = keyOf(target);
    const found = this.#breakers.get(key);
    if (found) return found;
    if (this.#breakers.size >= REMEMBERED) this.#makeRoom(now);
    const breaker = new CircuitBreaker(this.#options.random);
    this.#breakers.set(key, breaker);
    return breaker;
  }

  /** Forgets those nothing is held against; the oldest one when there are none. */
  #makeRoom(now: number): void {
    for (const [key, breaker] of this.#breakers) if (breaker.isClean(now)) this.#breakers.delete(key);
    if (this.#breakers.size < REMEMBERED) return;
    for (const oldest of this.#breakers.keys()) return void this.#breakers.delete(oldest);
  }
}

/** One overloaded model says nothing of its neighbours. */
function keyOf({ deployment, model }: Target): string {
  return `${deployment.name} ${model}`;
}
