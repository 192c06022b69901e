/**
 * Places for the lines of all batches of a worker. A free place goes to the sharer that has had the fewest tokens, and there to the
 * batch with the highest priority, then to the oldest. These are the shares of deficit round robin; but a batch has one line at
 * a time that waits, and in rounds its sharer would lose its turn while the next line is read.
 */
import { Lane } from "./lane.ts";

/** Tokens that a sharer may be behind the others: it catches up for a line that came late, and not for a time without lines. */
const QUANTUM = 4_000;
/** Sharers and models without lines that are kept: clients choose the names of models. */
const MOST_IDLE = 100;

/** A line that wants a place. */
export interface Place {
  /** Who shares with others, such as a key. */
  readonly sharer: string;
  /** The model as the line names it. */
  readonly model: string;
  /** An estimate of input and output. */
  readonly tokens: number;
  /** Among the lines of a sharer higher ones go first. */
  readonly priority: number;
  /** When its batch was made: older ones go first. Milliseconds since 1970. */
  readonly since: number;
}

/** What the call of a line showed. */
export interface Shown {
  /** The provider has too much to do; `key`: the calls of this key have reached a limit. */
  readonly busy?: "provider" | "key" | undefined;
  /** Milliseconds after which the next call is welcome. */
  readonly retryAfter: number;
  /** Who answered: see {@link targetOf} of traffic.ts. */
  readonly target?: string | undefined;
  /** How many lines may be in flight there. */
  readonly room?: number | undefined;
}

export interface SlotOptions {
  /** Lines that run at the same time. */
  readonly most: number;
  /** Resolves when the process has time for a line. */
  isFree(signal: AbortSignal): Promise<void>;
  /** Milliseconds for which lines leave a target to the calls of clients; then it is asked once more. */
  yieldMs(target: string): number;
  /** Monotonic milliseconds. */
  now?(): number;
}

interface Sharer {
  /** Tokens that it has had. */
  used: number;
  /** Lines that run or wait. */
  lines: number;
  /** Monotonic milliseconds. */
  closedUntil: number;
}

/** Lines of one sharer and model that are equal, in the order of arrival. */
interface Queue extends Pick<Place, "priority" | "since"> {
  readonly sharer: Sharer;
  readonly lane: Lane;
  readonly waiting: Set<Waiting>;
}

interface Waiting {
  readonly place: Place;
  readonly go: () => void;
}

export class Slots {
  readonly #options: SlotOptions;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  readonly #sharers = new Map<string, Sharer>();
  readonly #queues = new Map<string, Queue>();
  #most: number;
  #running = 0;
  /** What the sharer had had to which the last place went: a sharer without lines has no claim to what was before. */
  #level = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#most = options.most;
  }

  /** A reload changes it. */
  set most(most: number) {
    this.#most = most;
    for (const lane of this.#lanes.values()) lane.most = most;
    this.#fill();
  }

  /** Lines of the model that may run at the same time. */
  limitOf(model: string): number {
    return this.#lanes.get(model)?.limit ?? this.#most;
  }

  /** Resolves when the line may run. @param signal gives the wait up: then the place is not taken @returns whether it is */
  async take(place: Place, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    await this.#options.isFree(signal);
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const key = JSON.stringify([place.sharer, place.model, place.priority, place.since]);
    const waiting: Waiting = { place, go: () => resolve(true) };
    const left = () => {
      if (!this.#queues.get(key)?.waiting.has(waiting)) return;
      this.#leave(key, waiting);
      this.#sharers.get(place.sharer)!.lines--;
      resolve(false);
    };
    signal.addEventListener("abort", left, { once: true });
    this.#queueOf(key, place).waiting.add(waiting);
    this.#fill();
    const isTaken = await promise;
    signal.removeEventListener("abort", left);
    return isTaken;
  }

  /** @param place that was taken @param shown undefined: no provider was asked */
  give({ sharer: name, model }: Place, shown?: Shown): void {
    const lane = this.#lanes.get(model)!;
    const sharer = this.#sharers.get(name)!;
    const until = this.#now() + (shown?.retryAfter ?? 0);
    sharer.lines--;
    if (shown?.target !== undefined) {
      lane.target = shown.target;
      lane.room = shown.room ?? Infinity;
    }
    if (shown?.busy === "provider") lane.falls(until);
    else lane.rises();
    if (shown?.busy === "key") sharer.closedUntil = until;
    lane.running--;
    this.#running--;
    this.#fill();
  }

  #queueOf(key: string, { sharer: name, model, priority, since }: Place): Queue {
    const sharer = this.#sharerOf(name);
    sharer.lines++;
    const found = this.#queues.get(key);
    if (found) return found;
    const made = { sharer, lane: this.#laneOf(model), priority, since, waiting: new Set<Waiting>() };
    this.#queues.set(key, made);
    return made;
  }

  #laneOf(model: string): Lane {
    const found = this.#lanes.get(model);
    if (found) return found;
    if (this.#lanes.size >= MOST_IDLE) {
      const used = new Set([...this.#queues.values()].map(({ lane }) => lane));
      for (const [name, lane] of this.#lanes) if (lane.isFresh && !used.has(lane)) this.#lanes.delete(name);
    }
    const lane = new Lane(this.#most);
    this.#lanes.set(model, lane);
    return lane;
  }

  #sharerOf(name: string): Sharer {
    const found = this.#sharers.get(name);
    if (found) return found;
    if (this.#sharers.size >= MOST_IDLE)
      for (const [other, { lines }] of this.#sharers) if (lines === 0) this.#sharers.delete(other);
    const sharer = { used: this.#level, lines: 0, closedUntil: 0 };
    this.#sharers.set(name, sharer);
    return sharer;
  }

  #leave(key: string, waiting: Waiting): void {
    const { waiting: all } = this.#queues.get(key)!;
    all.delete(waiting);
    if (all.size === 0) this.#queues.delete(key);
  }

  #fill(): void {
    clearTimeout(this.#timer);
    while (this.#running < this.#most && this.#queues.size > 0) {
      const { key, wait } = this.#next();
      if (key !== undefined) this.#begin(key);
      else {
        if (wait < Infinity) this.#timer = setTimeout(() => this.#fill(), wait);
        return;
      }
    }
  }

  #begin(key: string): void {
    const { sharer, lane, waiting } = this.#queues.get(key)!;
    const [first] = waiting;
    this.#leave(key, first!);
    const used = Math.max(sharer.used, this.#level - QUANTUM);
    this.#level = Math.max(this.#level, used);
    sharer.used = used + first!.place.tokens;
    lane.running++;
    this.#running++;
    first!.go();
  }

  /** @returns the queue whose turn it is, or else the milliseconds until one may have its turn without an end of a line */
  #next(): { key?: string; wait: number } {
    const now = this.#now();
    let next: [string, Queue] | undefined;
    let wait = Infinity;
    for (const [key, queue] of this.#queues) {
      const { lane, sharer } = queue;
      if (lane.running >= lane.limit) continue;
      const closed = Math.max(lane.waitAt(now), sharer.closedUntil - now, this.#yieldMs(lane));
      if (closed > 0) wait = Math.min(wait, closed);
      else if (!next || isBefore(queue, next[1])) next = [key, queue];
    }
    return { ...(next && { key: next[0] }), wait };
  }

  #yieldMs({ target }: Lane): number {
    return target === undefined ? 0 : this.#options.yieldMs(target);
  }
}

function isBefore(one: Queue, other: Queue): boolean {
  if (one.sharer !== other.sharer) return one.sharer.used < other.sharer.used;
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.since < other.since;
}
