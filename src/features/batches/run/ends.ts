/** What ends a runner, its lines and its waits. */

/** How long running lines may go on behind the deadline, and behind the cancellation. Milliseconds. */
const GRACES_MS = { late: 60_000, cancelled: 600_000 } as const;

/** A runner stops before the end of its batch. */
export class Left extends Error {}

export class Ends {
  readonly #enough = new AbortController();
  readonly #cut = new AbortController();
  readonly #left = new AbortController();
  readonly #graces: Readonly<Record<"late" | "cancelled", number>>;
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #isLost = false;

  constructor(graces: Readonly<Record<"late" | "cancelled", number>> = GRACES_MS) {
    this.#graces = graces;
  }

  /** No further line begins. */
  get enough(): AbortSignal {
    return this.#enough.signal;
  }

  /** Lines that run end at once. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }

  /** weir stops, or another runner has the batch. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Another runner has the batch: nothing more is written. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Why a line that has not begun ends. */
  get code(): "batch_expired" | "batch_cancelled" {
    return this.enough.reason === "late" ? "batch_expired" : "batch_cancelled";
  }

  /** @param deadline milliseconds since 1970 */
  lateAt(deadline: number): void {
    const wait = Math.min(2 ** 31 - 1, Math.max(0, deadline - Date.now()));
    this.#timers.push(setTimeout(() => this.#end("late"), wait));
  }

  cancel(): void {
    this.#end("cancelled");
  }

  /** Lines that run may end. */
  leave(): void {
    this.#enough.abort("left");
    this.#left.abort();
  }

  lose(): void {
    this.#isLost = true;
    this.leave();
    this.#cut.abort();
  }

  /** Lines that run may end, and then the runner ends with the fault. */
  fault(): void {
    this.#enough.abort("fault");
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #end(why: "late" | "cancelled"): void {
    if (this.enough.aborted) return;
    this.#enough.abort(why);
    this.#timers.push(setTimeout(() => this.#cut.abort(), this.#graces[why]));
  }
}
