/**
 * Whether one deployment deserves calls: a state machine over what became of the last ones, with the time given from
 * outside. Closed: calls go there. Open: they go elsewhere until a moment. Half-open: that moment has come, and a single
 * call tries. It only ever advises: a model with nowhere else to go is called all the same.
 */

export type BreakerState = "closed" | "half-open" | "failing" | "paused";

/** A call on its way; who began before the breaker opened proves nothing about now. */
export interface Trial {
  /** Monotonic milliseconds. */
  readonly startedAt: number;
}

/**
 * Failures in a row that open it. The rule says five; three, because two probes follow within the first half minute and
 * no more than five calls may reach a dead deployment in that time.
 */
const IN_A_ROW = 3;
/** Half of the calls of a window, when there were as many as these. */
const LEAST_CALLS = 10;
const BUCKET_MS = 5_000;
const BUCKETS = 6;
/** How long it stays open: doubled with each failed probe. Milliseconds. */
const SHORTEST_MS = 5_000;
const LONGEST_MS = 300_000;
/** Added to that, so that many gateways do not probe at once; never less, for the sake of the count above. */
const JITTER = 0.2;
/** However long it asked to be left alone. */
const LONGEST_PAUSE_MS = 3_600_000;
/** A probe that says nothing for so long does not keep the next one back. Milliseconds. */
const PROBE_MS = 30_000;

export class CircuitBreaker {
  readonly #random: () => number;
  readonly #window = new Window();
  #inARow = 0;
  #openings = 0;
  #open: { since: number; until: number; standing: "failing" | "paused" } | undefined;
  #probe: Trial | undefined;

  /** @param random between 0 and 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  standing(now: number): BreakerState {
    if (!this.#open) return "closed";
    if (now < this.#open.until) return this.#open.standing;
    const probed = this.#probe !== undefined && now - this.#probe.startedAt < PROBE_MS;
    return probed ? this.#open.standing : "half-open";
  }

  /** When the next call may try; in the past when it may now. Monotonic milliseconds. */
  get opensAt(): number {
    return this.#open?.until ?? 0;
  }

  /** Nothing is held against it any more, and it need not be kept. */
  isClean(now: number): boolean {
    return !this.#open && this.#window.count(now).failures === 0;
  }

  begin(trial: Trial): void {
    if (this.standing(trial.startedAt) === "half-open") this.#probe = trial;
  }

  isProbe(trial: Trial): boolean {
    return trial === this.#probe;
  }

  /** The answer began. Proof enough to let others in, though it may still break. */
  answered(trial: Trial): void {
    if (this.#open && trial.startedAt >= this.#open.since) this.#close();
  }

  succeed(trial: Trial, now: number): void {
    this.answered(trial);
    if (this.#open) return;
    this.#window.add(now, false);
    this.#inARow = 0;
  }

  fail(trial: Trial, now: number): void {
    if (this.#open) {
      if (trial === this.#probe) this.#reopen(now);
      return;
    }
    this.#window.add(now, true);
    this.#inARow++;
    const { calls, failures } = this.#window.count(now);
    if (this.#inARow >= IN_A_ROW || (calls >= LEAST_CALLS && failures * 2 > calls)) this.#reopen(now);
  }

  /** It asked to be left alone, or refuses its credential. @param ms how long; without one it is as if it had failed */
  pause(trial: Trial, now: number, ms: number | undefined): void {
    // Those who were on their way when it began say nothing new.
    if (ms === undefined && this.#open && now < this.opensAt) return;
    if (trial === this.#probe) this.#probe = undefined;
    const until = now + Math.min(LONGEST_PAUSE_MS, ms ?? this.#period());
    if (ms === undefined) this.#openings++;
    this.#open = { since: now, until: Math.max(until, this.opensAt), standing: "paused" };
  }

  /** The call ended without saying anything about the deployment: the client left. */
  release(trial: Trial): void {
    if (trial === this.#probe) this.#probe = undefined;
  }

  #reopen(now: number): void {
    this.#open = { since: now, until: now + this.#period(), standing: "failing" };
    this.#openings++;
    this.#probe = undefined;
  }

  #period(): number {
    const doubled = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#openings);
    return Math.min(LONGEST_MS, doubled * (1 + JITTER * this.#random()));
  }

  #close(): void {
    this.#open = this.#probe = undefined;
    this.#inARow = this.#openings = 0;
    this.#window.clear();
  }
}

/** Calls and failures of the last half minute, by buckets of five seconds. */
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
