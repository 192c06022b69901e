/** Work that several who ask for it share: a run that begins after all of them have asked serves them all. */
export class SharedRun {
  readonly #work: () => Promise<void>;
  /** The run that waits for the one before it. */
  #next: Promise<void> | undefined;
  /** It is never rejected. */
  #last: Promise<void> = Promise.resolve();

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** @throws what the work throws */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const running = this.#work();
      this.#last = running.catch(() => {});
      return running;
    });
    return this.#next;
  }
}
