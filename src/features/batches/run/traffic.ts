/**
 * What calls say about the deployments and models that they ask: how long clients wait for first bytes, and when a provider wanted no
 * calls. Lines of batches leave them alone then.
 */
import type { Attempt } from "../../../core/call.ts";
import type { Target } from "../../../core/provider.ts";

/** Times are counted by slots of this length; a median of ten minutes has all slots, one of 30 s the newest. Milliseconds. */
const SLOT_MS = 10_000;
const SLOTS = 60;
const RECENT_SLOTS = 3;
/** Calls below which a median says nothing. */
const LEAST_RECENT = 5;
const LEAST_CALLS = 20;
/** The recent median is this much above that of ten minutes: the provider is slow. */
const SLOW = 1.5;
/** Times are counted by ranges, each of which is this much above the one before. The last one begins at three minutes. */
const STEP = Math.log(1.1);
const RANGES = 128;
/** How long lines wait before they look again. Milliseconds. */
const LOOK_MS = 500;
/** Clients choose the names of models. */
const MOST_TARGETS = 500;
/** Longest time for which a provider may want no calls. Milliseconds. */
const LONGEST_MS = 3_600_000;

/** Statuses by which providers want fewer calls. */
const BUSY: readonly (number | undefined)[] = [429, 503, 529];

export class Traffic {
  readonly #targets = new Map<string, Seen>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A call has ended. @param isOfClient it is no line of a batch */
  ended(attempts: readonly Attempt[], isOfClient: boolean): void {
    for (const attempt of attempts) {
      const { failure, said, upstreamStatus, startedAt, firstByteAt } = attempt;
      if (failure && said?.retryAfter !== undefined && BUSY.includes(upstreamStatus)) {
        const ms = Math.min(said.retryAfter * 1_000, LONGEST_MS);
        this.wantsNone(targetOf(attempt.target), startedAt + failure.ms + ms);
      } else if (isOfClient && !failure && firstByteAt !== undefined)
        this.answered(targetOf(attempt.target), firstByteAt - startedAt);
    }
  }

  /** A client has got the first byte of an answer. @param ms milliseconds since the request went out */
  answered(target: string, ms: number): void {
    this.#seen(target).times.add(ms, this.#now());
  }

  /** @param until monotonic milliseconds */
  wantsNone(target: string, until: number): void {
    const seen = this.#seen(target);
    seen.closedUntil = Math.max(seen.closedUntil, until);
    seen.lookAt = 0;
  }

  /** Milliseconds for which lines leave the target to the calls of clients; then it is asked once more. */
  yieldMs(target: string): number {
    const seen = this.#targets.get(target);
    if (!seen) return 0;
    const now = this.#now();
    if (now >= seen.lookAt) {
      seen.lookAt = now + LOOK_MS;
      seen.isSlow = seen.times.isSlow(now);
    }
    return Math.max(0, seen.closedUntil - now, seen.isSlow ? seen.lookAt - now : 0);
  }

  #seen(target: string): Seen {
    const found = this.#targets.get(target);
    if (found) return found;
    if (this.#targets.size >= MOST_TARGETS) {
      const [oldest] = this.#targets.keys();
      this.#targets.delete(oldest!);
    }
    const made = { times: new Times(), closedUntil: 0, lookAt: 0, isSlow: false };
    this.#targets.set(target, made);
    return made;
  }
}

interface Seen {
  readonly times: Times;
  /** Monotonic milliseconds, as all times here. */
  closedUntil: number;
  lookAt: number;
  isSlow: boolean;
}

/** The times of ten minutes, as a histogram for each slot. */
class Times {
  readonly #counts = new Uint32Array(SLOTS * RANGES);
  /** The slot since the start of the clock that each one counts now. */
  readonly #slots = new Array<number>(SLOTS).fill(-1);

  add(ms: number, now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    const at = slot % SLOTS;
    if (this.#slots[at] !== slot) {
      this.#slots[at] = slot;
      this.#counts.fill(0, at * RANGES, (at + 1) * RANGES);
    }
    const range = Math.min(RANGES - 1, Math.floor(Math.log(Math.max(1, ms)) / STEP));
    this.#counts[at * RANGES + range]!++;
  }

  isSlow(now: number): boolean {
    const recent = this.#median(RECENT_SLOTS, LEAST_RECENT, now);
    if (recent === undefined) return false;
    const usual = this.#median(SLOTS, LEAST_CALLS, now);
    return usual !== undefined && recent > SLOW * usual;
  }

  /** @returns milliseconds; undefined: there were too few calls */
  #median(slots: number, least: number, now: number): number | undefined {
    const sums = new Uint32Array(RANGES);
    const last = Math.floor(now / SLOT_MS);
    let calls = 0;
    for (let slot = Math.max(0, last - slots + 1); slot <= last; slot++) {
      const at = slot % SLOTS;
      if (this.#slots[at] !== slot) continue;
      for (let range = 0; range < RANGES; range++) {
        const count = this.#counts[at * RANGES + range]!;
        sums[range]! += count;
        calls += count;
      }
    }
    if (calls < least) return undefined;
    let below = 0;
    const range = sums.findIndex((count) => (below += count) >= calls / 2);
    return Math.exp((range + 0.5) * STEP);
  }
}

/** The name of a deployment with a model there. */
export function targetOf({ deployment, model }: Target): string {
  return `${deployment.name} ${model}`;
}
