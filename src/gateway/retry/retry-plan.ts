/**
 * The order of attempts: another deployment of the same model, then the same deployment after a pause, then the fallback
 * models. This file only decides; `attempts.ts` sends, waits and records.
 */
import type { FailureCause, Retries } from "../../core/failure-policy.ts";
import type { Target } from "../../core/provider.ts";
import { fullJitter } from "./backoff.ts";
import { type Failure, isRefusal } from "./failure.ts";
import type { Outlook } from "./health.ts";
import type { Choice, Plan, Standing } from "../routing/plan.ts";
import { onlyChoice, rank } from "../routing/plan.ts";

export interface Step {
  target: Target;
  /** Milliseconds to wait before the attempt. */
  wait: number;
}

export interface RetryPlanOptions {
  plan: Plan;
  /** The affinity key of the conversation; called only if there are several choices. */
  affinity(): string;
  /** The order within a priority; absent: by weight. */
  standing?: Standing;
  outlook(target: Target, now: number): Outlook;
  retries: Retries;
  /** Whether the client itself retries. */
  clientRetries: boolean;
  random?(): number;
}

/** Longest `retry-after` that weir waits for. Above it, weir tries another target or returns the error. Milliseconds. */
const LONGEST_WAIT_MS = 30_000;
/** Longest wait for the same deployment if a fallback model is available. Milliseconds. */
const LONGEST_WAIT_BEFORE_FALLBACK_MS = 2_000;
/** Random share added to a `retry-after`, so that calls that were refused together do not retry together. */
const SPREAD = 0.05;

export class RetryPlan {
  readonly #options: RetryPlanOptions;
  readonly #random: () => number;
  readonly #tried: Target[] = [];
  /** Number of targets among them that a rule of the gateway refused: no attempt was made there. */
  #refused = 0;
  #ranked: readonly Choice[] | undefined;
  #retriedSame = false;
  #retriedMaybeSent = false;
  /** How often the call was repeated at the targets of its model, by the cause of the failure before. */
  readonly #repeats: Partial<Record<FailureCause, number>> = {};

  constructor(options: RetryPlanOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /** Names of the deployments that come before the first step in order, and were skipped. */
  skipped: readonly string[] = [];

  /**
   * The first attempt. There always is one: if all circuit breakers are open, it goes to the deployment of the model whose
   * breaker becomes half-open first; to a full deployment only if all are full.
   */
  first(now: number): Step {
    const only = onlyChoice(this.#options.plan);
    const choice =
      only ?? this.#available(now) ?? this.#fallback(now) ?? this.#soonest(this.#choices, now)[0]!;
    if (!only) this.skipped = this.#deploymentsBefore(choice);
    return this.#take(choice.target, 0);
  }

  #deploymentsBefore(choice: Choice): string[] {
    const at = this.#choices.indexOf(choice);
    const before = at < 0 ? this.#choices : this.#choices.slice(0, at);
    return [...new Set(before.map(({ target }) => target.deployment.name))];
  }

  /** The attempt after a failure; `undefined` if the call has failed. @param remainingMs milliseconds until the call's deadline */
  next(failure: Failure, now: number, remainingMs: number): Step | undefined {
    if (failure.class === "started") return undefined;
    if (isRefusal(failure)) this.#refused++;
    const made = this.#tried.length - this.#refused;
    if (made >= this.#options.retries.attempts || remainingMs <= 0) return undefined;
    if (failure.class === "never") return failure.tooLong ? this.#larger(now) : undefined;
    if (failure.class === "no-bytes") {
      // The provider may charge for the request it did not answer: the call may cost twice, but not three times.
      if (this.#retriedMaybeSent || !this.#options.retries.maybeSent) return undefined;
      this.#retriedMaybeSent = true;
    }
    const fallback = this.#fallback(now);
    const isLast = made === this.#options.retries.attempts - 1;
    // The last attempt is reserved for a fallback model, if there is one.
    const same =
      (fallback && isLast) || !this.#mayRepeat(failure)
        ? undefined
        : (this.#otherDeployment(now) ?? this.#sameDeployment(failure, now, remainingMs, fallback));
    if (!same) return fallback && this.#take(fallback.target, 0);
    const { cause } = failure;
    if (cause) this.#repeats[cause] = (this.#repeats[cause] ?? 0) + 1;
    return same;
  }

  /** Whether the policy of the config permits another attempt at a target of the model. */
  #mayRepeat({ cause }: Failure): boolean {
    const most = this.#mostRepeats(cause);
    return cause === undefined || most === undefined || (this.#repeats[cause] ?? 0) < most;
  }

  /** The number of the config's policy; undefined: the policy says nothing about the cause. */
  #mostRepeats(cause: FailureCause | undefined): number | undefined {
    return cause && this.#options.retries.policy?.[cause];
  }

  get #choices(): readonly Choice[] {
    return (this.#ranked ??= this.#rank(this.#options.plan.choices));
  }

  #rank(choices: readonly Choice[]): readonly Choice[] {
    return rank(choices, this.#options.affinity, this.#options.standing);
  }

  #otherDeployment(now: number): Step | undefined {
    const choice = this.#available(now) ?? this.#readmitted(now);
    return choice && this.#take(choice.target, 0);
  }

  /** The first deployment of the model that was not tried and whose circuit breaker lets calls pass. */
  #available(now: number): Choice | undefined {
    return this.#choices.find((choice) => this.#isAvailable(choice, now));
  }

  /**
   * weir skips at most half of a model's deployments while another one is usable. Beyond that it retries at the deployments
   * whose breakers become half-open first, but never makes the first attempt there.
   */
  #readmitted(now: number): Choice | undefined {
    const failing = this.#choices.filter(({ target }) => this.#outlook(target, now).state === "failing");
    const isOneUsable = this.#choices.some(({ target }) => isUsable(this.#outlook(target, now)));
    const excess = failing.length - Math.floor(this.#choices.length / 2);
    if (!isOneUsable || excess <= 0) return undefined;
    return this.#soonest(failing, now)
      .slice(0, excess)
      .find((choice) => !this.#tried.includes(choice.target));
  }

  #soonest(choices: readonly Choice[], now: number): readonly Choice[] {
    const opensAt = ({ target }: Choice) => this.#outlook(target, now).opensAt;
    return [...choices].sort((a, b) => opensAt(a) - opensAt(b));
  }

  #larger(now: number): Step | undefined {
    const choice = this.#firstOf(this.#options.plan.larger, now);
    return choice && this.#take(choice.target, 0);
  }

  #fallback(now: number): Choice | undefined {
    return this.#firstOf(this.#options.plan.fallbacks, now);
  }

  #firstOf(models: readonly (readonly Choice[])[], now: number): Choice | undefined {
    for (const choices of models) {
      const best = this.#rank(choices).find((choice) => this.#isAvailable(choice, now));
      if (best) return best;
    }
    return undefined;
  }

  /**
   * A retry at the same deployment after a pause: the provider's `retry-after`, else a backoff. Without a number in the policy
   * there is one such retry in a call, and none where the client retries too, where a provider may have read the request, or
   * where the circuit breaker is open. With a number, weir waits for the circuit breaker.
   */
  #sameDeployment(
    failure: Failure,
    now: number,
    remainingMs: number,
    fallback: Choice | undefined,
  ): Step | undefined {
    const target = this.#tried.at(-1)!;
    const isAskedFor = this.#mostRepeats(failure.cause) !== undefined;
    if (!failure.repeatable || !(isAskedFor || this.#repeatsUnasked(failure))) return undefined;
    const { state, opensAt } = this.#outlook(target, now);
    const isOpen = state === "failing" || state === "paused";
    const pauseMs = failure.stale ? 0 : this.#pauseFor(failure);
    const wait =
      isAskedFor && isOpen ? Math.max(pauseMs, opensAt - now + fullJitter(1, this.#random)) : pauseMs;
    if (
      wait > (fallback ? LONGEST_WAIT_BEFORE_FALLBACK_MS : LONGEST_WAIT_MS * (1 + SPREAD)) ||
      wait >= remainingMs
    )
      return undefined;
    if (state === "full" || (state === "failing" && !isAskedFor)) return undefined;
    if (isOpen && opensAt > now + wait) return undefined;
    this.#retriedSame = true;
    return this.#take(target, wait);
  }

  /** Whether weir repeats a call once at the same deployment although no policy asks for that. */
  #repeatsUnasked(failure: Failure): boolean {
    if (this.#retriedSame) return false;
    // A reused connection that was closed says nothing about the provider; other silent failures may recur.
    if (failure.class === "no-bytes" && !failure.stale) return false;
    // With a single deployment, the client's own retries achieve the same.
    return !(onlyChoice(this.#options.plan) && this.#options.clientRetries && failure.class === "status");
  }

  #pauseFor({ retryAfterMs }: Failure): number {
    if (retryAfterMs === undefined) return fullJitter(this.#tried.length, this.#random);
    return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs * (1 + SPREAD * this.#random()) + 1 : Infinity;
  }

  #take(target: Target, wait: number): Step {
    this.#tried.push(target);
    return { target, wait };
  }

  #isAvailable({ target }: Choice, now: number): boolean {
    return !this.#tried.includes(target) && isUsable(this.#outlook(target, now));
  }

  #outlook(target: Target, now: number): Outlook {
    return this.#options.outlook(target, now);
  }
}

function isUsable({ state }: Outlook): boolean {
  return state === "closed" || state === "half-open";
}
