/** What the store knows of people, in a worker. */
import type { Replica } from "../../core/replica.ts";
import type { AccessRow } from "./people.ts";
import { TokenFault } from "./tokens/fault.ts";

/** How long a token waits for the first rows, and how long a worker may have heard nothing under `strict`. Milliseconds. */
const WAIT_MS = 4_000;
const SILENT_MS = 5_000;
const LOOK_MS = 20;

export class Known {
  readonly #rows: Replica<AccessRow>;
  /** Whether tokens are refused when changes may be missing. */
  readonly #isStrict: boolean;
  readonly #now: () => number;
  /** Since when the worker hears nothing; undefined: it hears. */
  #silentSince: number | undefined;

  constructor(rows: Replica<AccessRow>, isStrict: boolean, now: () => number) {
    this.#rows = rows;
    this.#isStrict = isStrict;
    this.#now = now;
  }

  get(id: string): AccessRow | undefined {
    return this.#rows.get(id);
  }

  /** Whether the worker has had all rows once. */
  get isReady(): boolean {
    return this.#rows.isComplete;
  }

  /** Whether it may be unknown who is suspended, and the operator wants no calls then. */
  isTooOld(): boolean {
    if (!this.#isStrict || this.#rows.isCurrent) {
      this.#silentSince = undefined;
      return false;
    }
    this.#silentSince ??= this.#now();
    return this.#now() - this.#silentSince >= SILENT_MS;
  }

  /** Waits until the worker has had all rows once: before, a person who is suspended would look unknown. @throws TokenFault */
  async ready(): Promise<void> {
    for (let waited = 0; !this.#rows.isComplete; waited += LOOK_MS) {
      if (waited >= WAIT_MS) throw new TokenFault("unavailable", "the people of the store are not known yet");
      await Bun.sleep(LOOK_MS);
    }
  }
}
