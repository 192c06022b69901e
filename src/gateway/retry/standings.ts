/**
 * Speed and load of the targets, for routing by latency and by usage: in this worker, in memory. Nothing is measured until a
 * plan asks for a standing for the first time.
 */
import type { Attempt, Call } from "../../core/call.ts";
import type { Target } from "../../core/provider.ts";
import { firstByteMsOf } from "../delivery/first-byte.ts";
import type { Choice, Standing } from "../routing/plan.ts";

/** Clients choose the model names, so the number of measured targets is limited. */
const MAX_TARGETS = 2_000;
/** Weight of a new time in the mean: about the last six calls count. */
const NEW_SHARE = 0.3;
/** A failure counts as the deadline of the first byte, at most this much. So does an answer that takes longer. Milliseconds. */
const LONGEST_MS = 120_000;
/** A mean that is older says nothing about the host of now: the next time replaces it. Milliseconds. */
const STALE_MS = 60_000;
/** Share of the calls for which a target comes first however slow it was, so that a host that has recovered is found. */
const EXPLORED = 0.03;
/** Means that differ by less than about this factor are equal: then weight and conversation decide, and prompts stay cached. */
const STEP = Math.log(1.25);
/** The time constant with which tokens are forgotten. Milliseconds. */
const TOKENS_MS = 60_000;

interface Mean {
  ms: number;
  at: number;
}

interface Measured {
  /** Mean time to the first event: of whole answers, of streams. A whole answer has its first byte later. */
  means: [whole?: Mean, stream?: Mean];
  inFlight: Set<Attempt>;
  tokens: number;
  tokensAt: number;
}

export interface StandingOptions {
  random?(): number;
  /** Monotonic milliseconds. */
  now?(): number;
}

/** The price of a token of input and one of output; undefined if it is not known. */
export type PriceOf = (target: Target) => number | undefined;

export class Standings {
  readonly #targets = new Map<string, Measured>();
  readonly #random: () => number;
  readonly #now: () => number;
  #isOn = false;

  constructor({ random = Math.random, now = () => performance.now() }: StandingOptions = {}) {
    this.#random = random;
    this.#now = now;
  }

  /** Places the choices of a call by their strategies. */
  of({ stream }: Pick<Call, "stream">, priceOf?: PriceOf): Standing {
    this.#isOn = true;
    return ({ by, target }: Choice) => {
      if (by === "latency") return [this.#speed(target, stream)];
      if (by === "usage") return this.#load(target);
      return by === "cost" ? [priceOf?.(target) ?? Infinity] : [];
    };
  }

  /** A target without a measurement comes first, with one call at a time. */
  #speed(target: Target, stream: boolean): number {
    const explored = this.#random() < EXPLORED;
    const measured = this.#targets.get(keyOf(target));
    const mean = measured?.means[Number(stream)];
    if (explored) return -1;
    if (mean) return Math.max(0, Math.floor(Math.log(Math.max(1, mean.ms)) / STEP));
    return measured && measured.inFlight.size > 0 ? Infinity : -1;
  }

  #load(target: Target): number[] {
    const measured = this.#targets.get(keyOf(target));
    return measured ? [measured.inFlight.size, Math.round(recent(measured, this.#now()))] : [0, 0];
  }

  begin(attempt: Attempt): void {
    if (this.#isOn) this.#measured(attempt.target)?.inFlight.add(attempt);
  }

  /** The first event of the answer has come. */
  answered(attempt: Attempt): void {
    if (this.#isOn) this.#add(attempt, (attempt.firstByteAt ?? this.#now()) - attempt.startedAt);
  }

  /** The deployment failed, before or in its answer: however fast that was, it counts as the deadline. */
  failed(attempt: Attempt): void {
    this.leave(attempt);
    const { timeouts = attempt.target.deployment.timeouts } = attempt.target;
    if (this.#isOn) this.#add(attempt, timeouts ? firstByteMsOf(attempt.call, timeouts) : LONGEST_MS);
  }

  /** The attempt has ended otherwise. If nobody waited for the first event, it takes at least as long as they waited. */
  ended(attempt: Attempt): void {
    this.leave(attempt);
    if (!this.#isOn) return;
    const waited = this.#now() - attempt.startedAt;
    const mean = this.#targets.get(keyOf(attempt.target))?.means[Number(attempt.call.stream)];
    if (attempt.firstByteAt === undefined && attempt.wasSent && attempt.call.abortReason)
      if (waited > (mean?.ms ?? 0)) this.#add(attempt, waited);
    this.#count(attempt);
  }

  /** The attempt is no longer in flight, and says nothing about the speed of its host. */
  leave(attempt: Attempt): void {
    if (this.#isOn) this.#targets.get(keyOf(attempt.target))?.inFlight.delete(attempt);
  }

  #add(attempt: Attempt, ms: number): void {
    const measured = this.#measured(attempt.target);
    if (!measured) return;
    const at = this.#now();
    const slot = attempt.call.stream ? 1 : 0;
    const before = measured.means[slot];
    const time = Math.min(ms, LONGEST_MS);
    const isFresh = before !== undefined && at - before.at < STALE_MS;
    measured.means[slot] = { ms: isFresh ? before.ms + NEW_SHARE * (time - before.ms) : time, at };
  }

  #count({ target, usage, estimated }: Attempt): void {
    const measured = this.#measured(target);
    if (!measured) return;
    const counted = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
    const now = this.#now();
    measured.tokens =
      recent(measured, now) + (counted || (estimated ? estimated.input + estimated.output : 0));
    measured.tokensAt = now;
  }

  #measured(target: Target): Measured | undefined {
    const key = keyOf(target);
    const found = this.#targets.get(key);
    if (found) return found;
    if (this.#targets.size >= MAX_TARGETS && !this.#evict()) return undefined;
    const measured: Measured = { means: [], inFlight: new Set(), tokens: 0, tokensAt: this.#now() };
    this.#targets.set(key, measured);
    return measured;
  }

  /** Forgets the oldest target without a call in flight. @returns whether there was one */
  #evict(): boolean {
    for (const [key, { inFlight }] of this.#targets)
      if (inFlight.size === 0) return this.#targets.delete(key);
    return false;
  }
}

/** The tokens of about the last minute: those of a minute ago count a third. */
function recent({ tokens, tokensAt }: Measured, now: number): number {
  return tokens * Math.exp((tokensAt - now) / TOKENS_MS);
}

function keyOf({ deployment, model }: Target): string {
  return `${deployment.name} ${model}`;
}
