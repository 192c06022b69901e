/** What of a fork comes from the tape, and from when on it goes on by itself. */
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { GENERATE } from "../../../gateway/recording/request.ts";
import { Tape, type Wanted } from "../../../tapes/match.ts";

/**
 * An entry: it answers. `live`: the run goes on by itself. `missed`: the run is before the fork, and the tape lacks the request.
 * `again`: an entry that has answered before, behind the fork.
 */
export type Found =
  { readonly kind: "taped" | "again"; readonly entry: TapeEntry } | { readonly kind: "live" | "missed" };

export class Forking {
  /** Before the fork. */
  readonly taped: Tape;
  /** What followed in the run: a request that is there shows that the client has come to the fork. */
  readonly #later: Tape;
  #isForked = false;

  /** @param at number of the first entry that does not answer @param ignored patterns of what does not count in requests */
  constructor(entries: readonly TapeEntry[], at: number, ignored: readonly RegExp[]) {
    this.taped = new Tape(
      entries.filter(({ call }) => call < at),
      ignored,
    );
    this.#later = new Tape(
      entries.filter(({ call }) => call >= at),
      ignored,
    );
  }

  /** The client has come to the fork. */
  get isForked(): boolean {
    return this.#isForked;
  }

  /** The answer to a request of a model. */
  call(wanted: Wanted): Found {
    const entry = this.taped.find(wanted, true);
    if (entry) return { kind: "taped", entry };
    if (this.#isForked) return { kind: "live" };
    const goesOn = this.#later.find(wanted) !== undefined;
    const again = goesOn ? undefined : this.taped.find(wanted);
    if (again) return { kind: "taped", entry: again };
    if (wanted.operation !== GENERATE) return { kind: goesOn ? "live" : "missed" };
    if (!goesOn && !this.taped.isSpent(GENERATE)) return { kind: "missed" };
    this.#isForked = true;
    return { kind: "live" };
  }

  /** The answer to a message to a server of tools. */
  message(wanted: Wanted): Found {
    const entry = this.taped.find(wanted, true);
    if (entry) return { kind: "taped", entry };
    const again = this.taped.find(wanted);
    if (again) return { kind: this.#isForked ? "again" : "taped", entry: again };
    return { kind: this.#isForked ? "live" : "missed" };
  }
}
