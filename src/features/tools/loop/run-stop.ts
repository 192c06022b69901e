/** What ends a run of tools: its time is over, its client has left, or its answer is not read any more. */
import type { Call } from "../../../core/call.ts";

/** How often a run says that it lives. Milliseconds. */
const ALIVE_MS = 1_000;

/** The time of a run is over: the answer ends with what there is. */
export class TimeIsOver extends Error {}

export class RunStop {
  readonly #controller = new AbortController();
  readonly #stopped = Promise.withResolvers<never>();
  readonly #call: Call;
  readonly #over: Timer;
  readonly #alive: Timer;
  readonly #onAbort = () => this.#end(this.#call.stop.reason ?? this.#call.attempt?.stop.reason);

  /** @param ms longest time of the run */
  constructor(call: Call, ms: number) {
    this.#call = call;
    this.#stopped.promise.catch(() => {});
    this.#over = setTimeout(() => this.#end(new TimeIsOver()), ms);
    // The silence of a tool is not that of a provider: each call of the run has limits of its own.
    this.#alive = setInterval(() => this.#hear(), ALIVE_MS);
    for (const stop of [call.stop, call.attempt?.stop]) {
      stop?.addEventListener("abort", this.#onAbort);
      if (stop?.aborted) this.#onAbort();
    }
  }

  /** Aborts when the run ends, for whatever reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @throws TimeIsOver, and what has ended the call */
  race<Value>(pending: Promise<Value>): Promise<Value> {
    return Promise.race([pending, this.#stopped.promise]);
  }

  /** The events as they come. @throws as {@link race} */
  async *each<Value>(events: AsyncIterable<Value>): AsyncGenerator<Value> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.race(iterator.next());
        if (done) return;
        yield value;
      }
    } finally {
      void iterator.return?.().catch(() => {});
    }
  }

  /** The run has ended: what still runs for it stops. */
  close(): void {
    clearTimeout(this.#over);
    clearInterval(this.#alive);
    for (const stop of [this.#call.stop, this.#call.attempt?.stop])
      stop?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  #hear(): void {
    const { attempt } = this.#call;
    if (attempt) attempt.heardAt = performance.now();
  }

  #end(reason: unknown): void {
    this.#stopped.reject(reason);
    this.#controller.abort(reason);
  }
}
