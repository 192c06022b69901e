/**
 * The order of attempts: another deployment of the same model, then the same one after a pause, then the
 * models that stand in. It decides; sending, waiting and booking are done elsewhere.
 */
import type { Target } from "../../core/provider.ts";
import { fullJitter } from "./backoff.ts";
import type { Failure } from "./failure.ts";
import type { Outlook } from "./health.ts";
import type { Choice, Plan } from "../routing/plan.ts";
import { rank } from "../routing/plan.ts";

export interface Step {
  target: Target;
  /** Milliseconds to wait before it. */
  wait: number;
}

export interface RetryPlanOptions {
  plan: Plan;
  /** What keeps a conversation at one deployment; asked for only where there is a choice. */
  affinity(): string;
  outlook(target: Target, now: number): Outlook;
  retries: Retries;
  /** Whether the client repeats by itself what failed. */
  clientRepeats: boolean;
  random?(): number;
}

/** The limits of repetition that the config sets. */
export interface Retries {
  /** Most attempts in all. */
  attempts: number;
  /** Whether a call is repeated that the upstream may have read, and may be answering. */
  maybeSent: boolean;
}

/** The longest an upstream's own `retry-after` is waited for; above it another one is asked, or the client. Milliseconds. */
const LONGEST_WAIT_MS = 30_000;
/** With another model to ask, nobody waits longer than this for the same one. Milliseconds. */
const PATIENCE_MS = 2_000;
/** Added to a `retry-after`, so that those who were refused together do not return together. */
const SPREAD = 0.05;

export class RetryPlan {
  readonly #options: RetryPlanOptions;
  readonly #random: () => number;
  readonly #tried: Target[] = [];
  #ranked: readonly Choice[] | undefined;
  #repeated = false;
  #doubled = false;

  constructor(options: RetryPlanOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /** Those of the model that come before the first step and were passed over. */
  skipped: readonly string[] = [];

  /**
   * Where the call goes first. There always is somewhere: when all are open, the one of the model itself that opens first
   * is called all the same, once; one that is full only when they all are.
   */
  first(now: number): Step {
    const only = this.#only;
    const choice = only ?? this.#fresh(now) ?? this.#fallback(now) ?? this.#soonest(this.#choices, now)[0]!;
    if (!only) this.skipped = this.#before(choice);
    return this.#take(choice.target, 0);
  }

  /** The one place there is. */
  get #only(): Choice | undefined {
    const { choices, fallbacks } = this.#options.plan;
    return choices.length === 1 && fallbacks.length === 0 ? choices[0] : undefined;
  }

  #before(choice: Choice): string[] {
    const at = this.#choices.indexOf(choice);
    const before = at < 0 ? this.#choices : this.#choices.slice(0, at);
    return [...new Set(before.map(({ target }) => target.deployment.name))];
  }

  /** Where it goes after a failure; `undefined` when it has failed for good. @param left milliseconds until its deadline */
  next(failure: Failure, now: number, left: number): Step | undefined {
    if (failure.class === "started") return undefined;
    if (this.#tried.length >= this.#options.retries.attempts || left <= 0) return undefined;
    if (failure.class === "never") return failure.tooLong ? this.#larger(now) : undefined;
    if (failure.class === "no-bytes") {
      // The upstream may have answered, and be paid, already: it may cost twice, but not three times.
      if (this.#doubled || !this.#options.retries.maybeSent) return undefined;
      this.#doubled = true;
    }
    const fallback = this.#fallback(now);
    const isLast = this.#tried.length === this.#options.retries.attempts - 1;
    // The last attempt belongs to the models that stand in, where there are any.
    const same =
      fallback && isLast ? undefined : (this.#elsewhere(now) ?? this.#again(failure, now, left, fallback));
    if (same) return same;
    return fallback && this.#take(fallback.target, 0);
  }

  get #choices(): readonly Choice[] {
    return (this.#ranked ??= rank(this.#options.plan.choices, this.#options.affinity));
  }

  #elsewhere(now: number): Step | undefined {
    const choice = this.#fresh(now) ?? this.#readmitted(now);
    return choice && this.#take(choice.target, 0);
  }

  /** The best deployment of the model that was not tried and is not open. */
  #fresh(now: number): Choice | undefined {
    return this.#choices.find((choice) => this.#isFresh(choice, now));
  }

  /**
   * No more than half of a model's deployments are left out while any of the others is in use: beyond that, those that
   * open first are asked again, though never first.
   */
  #readmitted(now: number): Choice | undefined {
    const out = this.#choices.filter(({ target }) => this.#outlook(target, now).standing === "failing");
    const inUse = this.#choices.some(({ target }) => isOpenTo(this.#outlook(target, now)));
    const excess = out.length - Math.floor(this.#choices.length / 2);
    if (!inUse || excess <= 0) return undefined;
    return this.#soonest(out, now)
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
      const best = rank(choices, this.#options.affinity).find((choice) => this.#isFresh(choice, now));
      if (best) return best;
    }
    return undefined;
  }

  /** The same deployment once more, after a pause: when it says how long, so long. */
  #again(failure: Failure, now: number, left: number, fallback: Choice | undefined): Step | undefined {
    const target = this.#tried.at(-1)!;
    if (this.#repeated || !failure.repeatable) return undefined;
    // A kept connection that was closed says nothing of the upstream; any other silence may repeat itself.
    if (failure.class === "no-bytes" && !failure.stale) return undefined;
    // With nowhere else to go there is nothing a client that has more patience could not do as well.
    if (this.#only && this.#options.clientRepeats && failure.class === "status") return undefined;
    const wait = failure.stale ? 0 : this.#pauseFor(failure);
    if (wait > (fallback ? PATIENCE_MS : LONGEST_WAIT_MS * (1 + SPREAD)) || wait >= left) return undefined;
    const { standing, opensAt } = this.#outlook(target, now);
    if (standing === "failing" || standing === "full") return undefined;
    if (standing === "paused" && opensAt > now + wait) return undefined;
    this.#repeated = true;
    return this.#take(target, wait);
  }

  #pauseFor({ retryAfterMs }: Failure): number {
    if (retryAfterMs === undefined) return fullJitter(this.#tried.length, this.#random);
    return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs * (1 + SPREAD * this.#random()) + 1 : Infinity;
  }

  #take(target: Target, wait: number): Step {
    this.#tried.push(target);
    return { target, wait };
  }

  #isFresh({ target }: Choice, now: number): boolean {
    return !this.#tried.includes(target) && isOpenTo(this.#outlook(target, now));
  }

  #outlook(target: Target, now: number): Outlook {
    return this.#options.outlook(target, now);
  }
}

function isOpenTo({ standing }: Outlook): boolean {
  return standing === "closed" || standing === "half-open";
}
