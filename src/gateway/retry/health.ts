/**
 * The state of the deployments: circuit breakers, concurrency limits, retry budget. It outlives a reload of the config.
 * Only failing deployments have a circuit breaker, so a healthy gateway pays one look-up in an empty map for each call.
 */
import type { Attempt, Call } from "../../core/call.ts";
import type { CircuitBreakerOptions, FailureCause } from "../../core/failure-policy.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../../core/merge-policies.ts";
import type { Target } from "../../core/provider.ts";
import { isCarried } from "../lanes/carried.ts";
import { causeOf, type Failure } from "./failure.ts";
import type { BreakerState } from "./circuit-breaker.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ConcurrencyLimiter, RetryBudget } from "./limits.ts";
import { Standings } from "./standings.ts";

/** Clients choose the model names, so the number of circuit breakers is limited. */
const MAX_BREAKERS = 2_000;

/** How long weir skips a deployment that refuses weir's credential or has no funds. Milliseconds. */
const REFUSED_MS = 300_000;

export interface HealthOptions {
  /** Reports what an operator has to fix: a refused credential, an account without funds. */
  onAlert?(sentence: string): void;
  /** Reports deployments that weir begins to skip, and those that answer again. */
  onChange?(sentence: string): void;
  random?(): number;
}

/** Whether a target may be tried. */
export interface Outlook {
  /** `full`: the deployment has reached its concurrency limit. */
  state: BreakerState | "full";
  /** When an open breaker becomes half-open; monotonic milliseconds. */
  opensAt: number;
}

/** A circuit breaker that is not closed. */
export interface OpenBreaker {
  deployment: string;
  model: string;
  state: Exclude<BreakerState, "closed">;
  since: number;
  opensAt: number;
  /** The last failure. */
  reason?: string;
}

/** A deployment with a circuit breaker that is not closed. */
export interface SkippedDeployment {
  deployment: string;
  state: "open" | "half-open";
  why?: "failing" | "limited" | "refused";
  /** The last failure, in one word. */
  what?: string;
}

/** A refused credential is worse than a model that fails, because only the operator can mend it. */
function rankOf({ state, why }: SkippedDeployment): number {
  return (state === "open" ? 1 : 0) + (why === "refused" ? 2 : 0);
}

const UNKNOWN: Outlook = { state: "closed", opensAt: 0 };
const FULL: Outlook = { state: "full", opensAt: Infinity };

export class Health {
  readonly budget = new RetryBudget();
  readonly standings: Standings;
  readonly #concurrency = new ConcurrencyLimiter();
  readonly #breakers = new Map<string, CircuitBreaker>();
  readonly #options: HealthOptions;
  /** When weir reported the refusal of a deployment that it goes on calling. Monotonic milliseconds. */
  readonly #toldRefusals = new Map<string, number>();

  constructor(options: HealthOptions = {}) {
    this.#options = options;
    this.standings = new Standings({ random: options.random });
  }

  /** @param call absent: a call of a client */
  isFull({ deployment }: Target, call?: Call): boolean {
    return this.#concurrency.isFull(deployment, call);
  }

  /** @param call see {@link isFull} */
  outlook(target: Target, now = performance.now(), call?: Call): Outlook {
    if (this.isFull(target, call)) return FULL;
    const breaker = this.#find(target);
    if (breaker && !breakerOptions(target).enabled) return UNKNOWN;
    return breaker ? { state: breaker.state(now), opensAt: breaker.opensAt } : UNKNOWN;
  }

  /** The circuit breakers that are not closed, by deployment: the worst of its models. */
  breakers(now = performance.now()): SkippedDeployment[] {
    const worst = new Map<string, SkippedDeployment>();
    for (const [key, breaker] of this.#breakers) {
      const found = breaker.state(now);
      if (found === "closed") continue;
      const deployment = key.slice(0, key.indexOf(" "));
      const state = found === "half-open" ? found : "open";
      const { cause, what } = breaker.why ?? {};
      const report = { deployment, state, ...(cause && { why: cause, what }) } as const;
      const known = worst.get(deployment);
      if (!known || rankOf(report) > rankOf(known)) worst.set(deployment, report);
    }
    return [...worst.values()];
  }

  /** The circuit breakers that are not closed. Times are monotonic milliseconds. */
  describe(now = performance.now()): OpenBreaker[] {
    return [...this.#breakers].flatMap(([key, breaker]) => {
      const state = breaker.state(now);
      if (state === "closed") return [];
      const space = key.indexOf(" ");
      const { since, opensAt, why } = breaker;
      const names = { deployment: key.slice(0, space), model: key.slice(space + 1) };
      return [{ ...names, state, since, opensAt, ...(why && { reason: why.what }) }];
    });
  }

  /** An attempt begins. */
  begin(call: Call, attempt: Attempt): void {
    if (call.attempts.length === 1) this.budget.enter();
    this.#concurrency.enter(attempt);
    this.standings.begin(attempt);
    this.#find(attempt.target)?.begin(attempt);
  }

  /** The attempt's answer has begun. */
  answered(attempt: Attempt): void {
    this.standings.answered(attempt);
    const breaker = this.#find(attempt.target);
    if (!breaker) return;
    const now = performance.now();
    const before = breaker.state(now);
    breaker.answered(attempt);
    if (before !== "closed" && breaker.state(now) === "closed")
      this.#options.onChange?.(`${keyOf(attempt.target)} answers again`);
  }

  /** The attempt failed before a byte of its answer reached the client. */
  failed(attempt: Attempt, failure: Failure, now = performance.now()): void {
    this.#concurrency.leave(attempt);
    this.#measure(attempt, failure);
    switch (failure.verdict) {
      case "neutral":
        return this.#find(attempt.target)?.release(attempt);
      case "healthy":
        return this.#find(attempt.target)?.succeed(attempt, now);
      case "failing":
        return this.#fail(attempt, now, failure.cause);
      case "limited":
        return this.#limited(attempt, failure, now);
      case "refused":
        return this.#refused(attempt, failure, now);
    }
  }

  /** A refusal of one request says nothing about the speed of a deployment. */
  #measure(attempt: Attempt, { verdict }: Failure): void {
    if (verdict === "neutral") this.standings.ended(attempt);
    else if (verdict === "healthy") this.standings.leave(attempt);
    else this.standings.failed(attempt);
  }

  #fail(attempt: Attempt, now: number, cause: FailureCause | undefined): void {
    const options = breakerOptions(attempt.target);
    if (!options.enabled) return this.#find(attempt.target)?.release(attempt);
    const breaker = this.#breaker(attempt.target, now);
    const before = breaker.opensAt;
    breaker.fail(attempt, now, options, cause);
    if (breaker.opensAt === before) return;
    breaker.why = { cause: "failing", what: attempt.failure?.what ?? "failed" };
    const effect = skips(breaker.opensAt - now);
    this.#options.onChange?.(`${keyOf(attempt.target)} fails (${attempt.failure?.what}); ${effect}`);
  }

  #limited(attempt: Attempt, { what, retryAfterMs, cause }: Failure, now: number): void {
    const options = breakerOptions(attempt.target);
    if (!options.enabled) return this.#find(attempt.target)?.release(attempt);
    const breaker = this.#breaker(attempt.target, now);
    breaker.pause(attempt, now, retryAfterMs, options, cause);
    if (breaker.opensAt > 0) breaker.why = { cause: "limited", what };
  }

  /** Alerts when the refusals begin, and again after each failed probe. */
  #refused(attempt: Attempt, { what, retryAfterMs, cause }: Failure, now: number): void {
    const options = breakerOptions(attempt.target);
    const { name } = attempt.target.deployment;
    const ms = retryAfterMs ?? Math.min(REFUSED_MS, options.longestCooldownMs);
    const breaker = options.enabled ? this.#breaker(attempt.target, now) : undefined;
    const wasSkipped = breaker?.state(now) === "paused" && !breaker.isProbe(attempt);
    breaker?.pause(attempt, now, ms, options, cause);
    const isSkipped = breaker?.state(now) === "paused";
    if (isSkipped) breaker.why = { cause: "refused", what };
    const isOld = now - (this.#toldRefusals.get(name) ?? -Infinity) < REFUSED_MS;
    if (isSkipped ? wasSkipped : isOld) return;
    if (!isSkipped) this.#toldRefusals.set(name, now);
    const effect = isSkipped ? skips(ms) : "weir goes on calling it, as circuitBreaker says";
    this.#options.onAlert?.(`${name} refuses weir's credential or has no funds (${what}); ${effect}`);
  }

  /** The call has ended: an answer that had begun counts by its outcome. */
  settled(call: Call, now = call.endedAt ?? performance.now()): void {
    const attempt = call.attempts.at(-1);
    if (!attempt || isCarried.get(attempt)) return;
    this.budget.leave();
    if (attempt.failure) return;
    this.#concurrency.leave(attempt);
    this.standings.ended(attempt);
    if (call.outcome === "failed" && !call.abortReason) this.#failedMidAnswer(call, attempt, now);
    else this.#ended(call, attempt, now);
  }

  /** The answer failed after it had begun. An internal error of weir says nothing about the deployment. */
  #failedMidAnswer(call: Call, attempt: Attempt, now: number): void {
    const ms = Math.round(now - attempt.startedAt);
    attempt.failure = { class: "started", what: call.error?.code ?? call.error?.kind ?? "broken", ms };
    if (call.error?.kind === "internal" && attempt.target.lane !== "generated")
      this.#find(attempt.target)?.release(attempt);
    else {
      this.#fail(attempt, now, call.error && causeOf(call.error));
      this.standings.failed(attempt);
    }
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
    if (this.#breakers.size >= MAX_BREAKERS) this.#evict(now);
    const breaker = new CircuitBreaker(this.#options.random);
    this.#breakers.set(key, breaker);
    return breaker;
  }

  /** Removes the breakers without recent failures; if there are none, the oldest one. */
  #evict(now: number): void {
    for (const [key, breaker] of this.#breakers) if (breaker.isClean(now)) this.#breakers.delete(key);
    if (this.#breakers.size < MAX_BREAKERS) return;
    for (const oldest of this.#breakers.keys()) return void this.#breakers.delete(oldest);
  }
}

function skips(ms: number): string {
  return `weir skips it for ${Math.round(ms / 1000)} s if another deployment can answer`;
}

/** When weir skips a target. */
export function breakerOptions({ circuitBreaker, deployment }: Target): CircuitBreakerOptions {
  return circuitBreaker ?? deployment.circuitBreaker ?? DEFAULT_CIRCUIT_BREAKER;
}

/** Breakers are kept by model, because an overloaded model says nothing about other models of its deployment. */
function keyOf({ deployment, model }: Target): string {
  return `${deployment.name} ${model}`;
}
