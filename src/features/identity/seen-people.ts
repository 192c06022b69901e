/** Writes down people whom workers have seen, in groups. */
import type { SeenPerson } from "./messages.ts";

/** Most people that wait to be written down; they are seen again. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 200;
const MOST_KNOWN = 100_000;

export class SeenPeople {
  readonly #write: (people: readonly SeenPerson[]) => Promise<void>;
  /** Logs a sentence as a fault. */
  readonly #report: (sentence: string) => void;
  readonly #waiting = new Map<string, SeenPerson>();
  /** What was written down of people since the start. */
  readonly #known = new Map<string, string>();
  #isWriting = false;

  constructor(write: (people: readonly SeenPerson[]) => Promise<void>, report: (sentence: string) => void) {
    this.#write = write;
    this.#report = report;
  }

  add(seen: SeenPerson): void {
    const { at: _, ...facts } = seen;
    const written = JSON.stringify(facts);
    // All workers tell of the same people: an entry of the audit log for each time would bury the others.
    if ((this.#known.get(seen.id) === written && !seen.waits) || this.#waiting.size >= MOST_WAITING) return;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(seen.id, written);
    this.#waiting.set(seen.id, seen);
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#waiting.size > 0) {
        const people = [...this.#waiting.values()].slice(0, MOST_AT_ONCE);
        for (const { id } of people) this.#waiting.delete(id);
        await this.#write(people).catch((cause: unknown) => {
          for (const { id } of people) this.#known.delete(id);
          throw cause;
        });
      }
    } catch (cause) {
      this.#report(`identity: people who were seen could not be written down: ${(cause as Error).message}`);
    } finally {
      this.#isWriting = false;
    }
  }
}
