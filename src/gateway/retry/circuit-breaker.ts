/**
 * The circuit breaker of one deployment and model: a state machine over the outcomes of recent calls; callers pass the time.
 * Closed: calls go to the deployment. Open: calls go to others until a given time. Half-open: that time has come, and a
 * single call probes the deployment. The breaker only advises: if a model has no other deployment, weir calls it anyway.
 */

import type { CircuitBreakerOptions, FailureCause } from "../../core/failure-policy.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../../core/merge-policies.ts";

/** `failing` and `paused` are open: after failures, or because the provider asked for a pause. */
export type BreakerState = "closed" | "half-open" | "failing" | "paused";

/** A call in flight. One that began before the breaker opened says nothing about the present state. */
export interface Trial {
  /** Monotonic milliseconds. */
  readonly startedAt: number;
}

/**
 * The breaker also opens when more than half of the window's calls failed. The window then needs `MIN_CALLS` calls, and
 * `MIN_TIMES` the number of failures in a row that the config allows.
 */
const MIN_CALLS = 10;
const MIN_TIMES = 3;
const BUCKET_MS = 5_000;
const BUCKETS = 6;
/**
 * Share of the time of being open that is added at random, so that several gateways do not probe at once. It only lengthens the
 * time: with the two probes of the first half minute, at most five calls reach a dead deployment in that time by default.
 */
const JITTER = 0.2;
/** Upper limit for the pause that a provider asks for. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Time after which a probe without a result no longer blocks the next one. Milliseconds. */
const PROBE_TIMEOUT_MS = 30_000;

export class CircuitBreaker {
  readonly #random: () => number;
  readonly #window = new Window();
  /** Failures in a row: of causes that have a number of their own, and of all others. */
  readonly #inARow = new Map<FailureCause | "other", number>();
  #openings = 0;
  #open: { since: number; until: number; state: "failing" | "paused" } | undefined;
  #probe: Trial | undefined;
  /** Why it is open, for people. `what`: the last failure, in one word. */
  why: { cause: "failing" | "limited" | "refused"; what: string } | undefined;

  /** @param random between 0 and 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  state(now: number): BreakerState {
    if (!this.#open) return "closed";
    if (now < this.#open.until) return this.#open.state;
    const probed = this.#probe !== undefined && now - this.#probe.startedAt < PROBE_TIMEOUT_MS;
    return probed ? this.#open.state : "half-open";
  }

  /** When an open breaker becomes half-open; 0 if it is closed. Monotonic milliseconds. */
  get opensAt(): number {
    return this.#open?.until ?? 0;
  }

  /** When it opened; 0 if it is closed. Monotonic milliseconds. */
  get since(): number {
    return this.#open?.since ?? 0;
  }

  /** The breaker is closed and has no recent failure, so it need not be kept. */
  isClean(now: number): boolean {
    return !this.#open && this.#window.count(now).failures === 0;
  }

  begin(trial: Trial): void {
    if (this.state(trial.startedAt) === "half-open") this.#probe = trial;
  }

  isProbe(trial: Trial): boolean {
    return trial === this.#probe;
  }

  /** The answer has begun: that closes the breaker, although the answer may still fail. */
  answered(trial: Trial): void {
    if (this.#open && trial.startedAt >= this.#open.since) this.#close();
  }

  succeed(trial: Trial, now: number): void {
    this.answered(trial);
    if (this.#open) return;
    this.#window.add(now, false);
    this.#inARow.clear();
  }

  fail(trial: Trial, now: number, options = DEFAULT_CIRCUIT_BREAKER, cause?: FailureCause): void {
    if (this.#open) {
      if (trial === this.#probe) this.#reopen(now, options);
      return;
    }
    const own = cause && options.policy?.[cause];
    const inARow = this.#count(own === undefined ? "other" : cause!);
    if (own !== undefined) return inARow >= own ? this.#reopen(now, options) : undefined;
    this.#window.add(now, true);
    const { calls, failures } = this.#window.count(now);
    const isMostly = calls >= Math.max(MIN_CALLS, MIN_TIMES * options.failures) && failures * 2 > calls;
    if (inARow >= options.failures || isMostly) this.#reopen(now, options);
  }

  /**
   * The provider asked for a pause or refused the credential.
   * @param ms length of the pause; default as after a failed probe
   */
  pause(
    trial: Trial,
    now: number,
    ms: number | undefined,
    options = DEFAULT_CIRCUIT_BREAKER,
    cause?: FailureCause,
  ): void {
    // Calls that were in flight when the pause began do not lengthen it.
    if (ms === undefined && this.#open && now < this.opensAt) return;
    const allowed = cause && options.policy?.[cause];
    if (allowed !== undefined && !this.#open && this.#count(cause!) < allowed) return;
    if (trial === this.#probe) this.#probe = undefined;
    const until = now + Math.min(LONGEST_PAUSE_MS, ms ?? this.#period(options));
    if (ms === undefined) this.#openings++;
    this.#open = { since: now, until: Math.max(until, this.opensAt), state: "paused" };
  }

  /** The call ended without evidence about the deployment, for example because the client disconnected. */
  release(trial: Trial): void {
    if (trial === this.#probe) this.#probe = undefined;
  }

  /** @returns the failures in a row, with one more */
  #count(cause: FailureCause | "other"): number {
    const inARow = (this.#inARow.get(cause) ?? 0) + 1;
    this.#inARow.set(cause, inARow);
    return inARow;
  }

  #reopen(now: number, options: CircuitBreakerOptions): void {
    this.#open = { since: now, until: now + this.#period(options), state: "failing" };
    this.#openings++;
    this.#probe = undefined;
  }

  #period({ cooldownMs, longestCooldownMs }: CircuitBreakerOptions): number {
    const doubled = Math.min(longestCooldownMs, cooldownMs * 2 ** this.#openings);
    return Math.min(longestCooldownMs, doubled * (1 + JITTER * this.#random()));
  }

  #close(): void {
    this.#open = this.#probe = this.why = undefined;
    this.#inARow.clear();
    this.#openings = 0;
    this.#window.clear();
  }
}

/** Counts calls and failures of the last 30 s, in buckets of 5 s. */
class Window {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({ slot: -1, calls: 0, failures: 0 }));

  add(now: number, failed: boolean): void {
    const slot = Math.floor(now / BUCKET_MS);
    const bucket = this.#buckets[slot % BUCKETS]!;
    if (bucket.slot !== slot) Object.assign(bucket, { slot, calls: 0, failures: 0 });
    bucket.calls++;
    if (failed) bucket.failures++;
  }

  count(now: number): { calls: number; failures: number } {
    const oldest = Math.floor(now / BUCKET_MS) - BUCKETS + 1;
    const total = { calls: 0, failures: 0 };
    for (const { slot, calls, failures } of this.#buckets) {
      if (slot < oldest) continue;
      total.calls += calls;
      total.failures += failures;
    }
    return total;
  }

  clear(): void {
    for (const bucket of this.#buckets) bucket.slot = -1;
  }
}
