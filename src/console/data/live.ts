/** Calls as they end, and calls that run, from the stream of the admin API. */
import { signal } from "./signal.ts";
import { useEffect, useState } from "preact/hooks";
import { API, ApiError, get, anew } from "./api.ts";
import type { CallEntry, Calls, LiveCalls, LivePulse, RunningCalls } from "./types.ts";

/** Calls in memory. */
export const KEPT = 500;
/** Calls that are read before the first event. */
const BEFORE = 50;
/** Without any event for this long the stream is not live any more; weir sends one each second. */
const SILENCE = 5_000;

/** A stream of calls that match a filter. */
export class LiveFeed {
  /** The newest first. */
  readonly rows = signal<readonly CallEntry[]>([]);
  /** Calls that arrived while the rows do not move. The newest first. */
  readonly waiting = signal<readonly CallEntry[]>([]);
  /** More than {@link KEPT} calls wait: the oldest of them are only in the store. */
  readonly overflowed = signal(false);
  /** The operator pressed Pause. */
  readonly paused = signal(false);
  readonly connected = signal(false);
  /** The first calls were read, also if there are none. */
  readonly filled = signal(false);
  /** Why the calls before the stream could not be read. */
  readonly fault = signal<ApiError | undefined>(undefined);
  readonly pulse = signal<LivePulse | undefined>(undefined);
  readonly running = signal<RunningCalls | undefined>(undefined);
  /** One of how many calls is shown; 1 unless they are thinned. */
  readonly thinned = signal(1);
  /** Ids of calls that the stream has brought, which are washed in. */
  readonly fresh = new Set<string>();

  readonly #filter: string;
  #source: EventSource | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  #heard = 0;
  /** The pointer is over the rows, or text of them is selected: they do not move. */
  #held = false;

  /** @param filter query of the admin API: `?key=ci-bot` */
  constructor(filter: string) {
    this.#filter = filter;
  }

  open(): void {
    const source = (this.#source = new EventSource(`${API}/calls/live${this.#filter}`));
    source.addEventListener("open", () => {
      this.#hear();
      // After a lost connection the calls in between are only in the store.
      void this.#fill();
    });
    source.addEventListener("error", () => {
      this.connected.value = false;
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser gives up after an answer that is no stream.
      void this.#fill();
      this.#later();
    });
    this.#on<LiveCalls>("calls", ({ calls, matched }) => {
      this.thinned.value = calls.length === 0 ? 1 : Math.max(1, matched / calls.length);
      this.#arrive(calls.toReversed());
    });
    this.#on<RunningCalls>("running", (running) => {
      this.running.value = running;
    });
    this.#on<LivePulse>("pulse", (pulse) => {
      this.pulse.value = pulse;
    });
    this.#watch = setInterval(() => {
      if (Date.now() - this.#heard > SILENCE) this.connected.value = false;
    }, 1_000);
  }

  close(): void {
    this.#source?.close();
    clearInterval(this.#watch);
    clearTimeout(this.#retry);
  }

  pause(): void {
    this.paused.value = !this.paused.value;
    this.#release();
  }

  /** Holds the rows where they are, for as long as the operator reads them. */
  hold(held: boolean): void {
    this.#held = held;
    this.#release();
  }

  #retry: ReturnType<typeof setTimeout> | undefined;

  #later(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.close();
      this.open();
    }, SILENCE);
  }

  #on<Data>(event: string, take: (data: Data) => void): void {
    this.#source!.addEventListener(event, (message) => {
      this.#hear();
      take(JSON.parse((message as MessageEvent<string>).data) as Data);
    });
  }

  #hear(): void {
    this.#heard = Date.now();
    this.connected.value = true;
  }

  async #fill(): Promise<void> {
    try {
      const join = this.#filter === "" ? "?" : "&";
      const { calls } = await get<Calls>(`/calls${this.#filter}${join}limit=${BEFORE}`);
      this.rows.value = merged(calls, this.rows.value);
      this.fault.value = undefined;
    } catch (cause) {
      if (cause instanceof ApiError) this.fault.value = cause;
    }
    this.filled.value = true;
  }

  /** @param calls the newest first */
  #arrive(calls: readonly CallEntry[]): void {
    for (const { id } of calls) this.fresh.add(id);
    const waiting = merged(calls, this.waiting.value);
    this.overflowed.value ||= calls.length + this.waiting.value.length > KEPT;
    this.waiting.value = waiting;
    this.#release();
  }

  #release(): void {
    if (this.paused.value || this.#held || this.waiting.value.length === 0) return;
    this.rows.value = merged(this.waiting.value, this.rows.value);
    this.waiting.value = [];
    this.overflowed.value = false;
    for (const id of this.fresh) if (this.fresh.size > KEPT) this.fresh.delete(id);
  }
}

/** Both lists, each call once, the newest first, at most {@link KEPT}. */
export function merged(newer: readonly CallEntry[], older: readonly CallEntry[]): CallEntry[] {
  const known = new Set(newer.map(({ id }) => id));
  const all = [...newer, ...older.filter(({ id }) => !known.has(id))];
  return all.sort((a, b) => endOf(b) - endOf(a)).slice(0, KEPT);
}

const endOf = ({ startedAt, ms }: CallEntry) => startedAt + ms;

/** The stream of a filter while the component is shown. */
export function useLive(filter: string): LiveFeed {
  const [feed, setFeed] = useState(() => new LiveFeed(filter));
  useEffect(() => {
    const next = new LiveFeed(filter);
    next.paused.value = feed.paused.value;
    setFeed(next);
    next.open();
    return () => next.close();
  }, [filter, anew.value]);
  return feed;
}
