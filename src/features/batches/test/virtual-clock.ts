/** A clock that goes on when nothing else is left to do: hours of waits take a moment. */

/** Turns of promises after which all that can go on has gone on. */
const TURNS = 20;

export class VirtualClock {
  /** Milliseconds. */
  now = 0;
  #waits: { readonly at: number; readonly go: () => void }[] = [];

  sleep(ms: number): Promise<void> {
    return new Promise((go) => this.#waits.push({ at: this.now + ms, go }));
  }

  /** Goes on until the work has ended. @throws Error if the work waits for something else than this clock */
  async until(work: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    const end = work.finally(() => (hasEnded = true));
    end.catch(() => {});
    for (;;) {
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
      if (hasEnded) break;
      if (this.#waits.length === 0) throw new Error("The work does not end.");
      this.now = Math.min(...this.#waits.map(({ at }) => at));
      const due = this.#waits.filter(({ at }) => at <= this.now);
      this.#waits = this.#waits.filter(({ at }) => at > this.now);
      for (const { go } of due) go();
    }
    await end;
  }
}
