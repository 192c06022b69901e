/** Works of a batch that run at the same time. The first fault counts; the others may end. */

/** Lines without a call that are noted at the same time. */
const NOTES = 256;

export class Pending {
  readonly #failed: () => void;
  readonly #lines = new Set<Promise<void>>();
  #notes: Promise<void>[] = [];
  #fault: unknown;

  /** @param failed called with the first fault */
  constructor(failed: () => void) {
    this.#failed = failed;
  }

  get hasFault(): boolean {
    return this.#fault !== undefined;
  }

  add(work: Promise<void>): void {
    const one = this.#watched(work).finally(() => this.#lines.delete(one));
    this.#lines.add(one);
  }

  /** A short work. Resolves when there is room for another one. */
  async note(work: Promise<void>): Promise<void> {
    if (this.#notes.push(this.#watched(work)) >= NOTES) await this.#noted();
  }

  /** @throws the first fault, when all have ended */
  async all(): Promise<void> {
    await this.#noted();
    await Promise.all(this.#lines);
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #noted(): Promise<void> {
    const notes = this.#notes;
    this.#notes = [];
    await Promise.all(notes);
  }

  #watched(work: Promise<void>): Promise<void> {
    return work.catch((thrown: unknown) => {
      if (this.#fault === undefined) this.#failed();
      this.#fault ??= thrown;
    });
  }
}
