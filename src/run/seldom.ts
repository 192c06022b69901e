/** Sentences about faults that each call may repeat: each kind is said once a minute, with the number of those between. */

const MINUTE_MS = 60_000;

export class Seldom {
  readonly #say: (sentence: string) => void;
  readonly #now: () => number;
  readonly #said = new Map<string, { at: number; unsaid: number }>();

  constructor(say: (sentence: string) => void, now: () => number = () => performance.now()) {
    this.#say = say;
    this.#now = now;
  }

  /** @param kind of a small number: each one is kept */
  say(kind: string, sentence: string): void {
    const now = this.#now();
    const last = this.#said.get(kind);
    if (last && now - last.at < MINUTE_MS) {
      last.unsaid++;
      return;
    }
    const more = last?.unsaid ? ` (and ${last.unsaid} more times since the last such line)` : "";
    this.#said.set(kind, { at: now, unsaid: 0 });
    this.#say(`${sentence}${more}.`);
  }
}
