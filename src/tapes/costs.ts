/** Adds to recorded calls what they cost, which the books know when a call is settled. */
import type { Attempt, Call } from "../core/call.ts";
import type { Ledger } from "../core/ledger.ts";
import type { TapeEntry } from "../gateway/recording/entry.ts";

interface Costed {
  /** Nano-dollars, with the calls and tools that weir ran for it. */
  cost: number;
  /** The books have its record. */
  isSettled: boolean;
  entry?: TapeEntry;
}

export class Costs {
  readonly #ledger: Pick<Ledger, "charged">;
  readonly #write: (entry: TapeEntry) => void;
  readonly #calls = new WeakMap<Call, Costed>();
  /** Entries whose calls are not settled. */
  readonly #waiting = new Set<TapeEntry>();

  /** @param write takes an entry that has its cost. It reports by itself what it cannot keep. */
  constructor(ledger: Pick<Ledger, "charged">, write: (entry: TapeEntry) => void) {
    this.#ledger = ledger;
    this.#write = write;
  }

  /** Takes the entry of a call, and hands it on once its cost is known. */
  take(entry: TapeEntry, call: Call): void {
    // Without books nothing is settled.
    if (!this.#ledger.charged) return this.#write(entry);
    const costed = this.#of(call);
    costed.entry = entry;
    this.#waiting.add(entry);
    this.#writeSettled(costed);
  }

  /** The books are about to write the record of a call, or of work. */
  readonly record = (call: Call, attempts: readonly Attempt[]): void => {
    const root = rootOf(call);
    const costed = this.#of(root);
    costed.cost += this.#ledger.charged?.(attempts) ?? 0;
    costed.isSettled ||= call === root;
    this.#writeSettled(costed);
  };

  /** Hands on what was never settled, without its cost. */
  flush(): void {
    for (const entry of this.#waiting) this.#write(entry);
    this.#waiting.clear();
  }

  #of(call: Call): Costed {
    const known = this.#calls.get(call) ?? { cost: 0, isSettled: false };
    this.#calls.set(call, known);
    return known;
  }

  #writeSettled({ entry, cost, isSettled }: Costed): void {
    if (!entry || !isSettled || !this.#waiting.delete(entry)) return;
    this.#write({ ...entry, cost });
  }
}

function rootOf(call: Call): Call {
  let root = call;
  while (root.parent) root = root.parent;
  return root;
}

/** A writer that reports what it cannot keep. @param write may throw an Error of the file system */
export function keeping(
  write: (entry: TapeEntry) => void,
  onLost: (sentence: string) => void,
): (entry: TapeEntry) => void {
  return (entry) => {
    try {
      write(entry);
    } catch (cause) {
      onLost(
        `call ${entry.call} is not on the tape: ${cause instanceof Error ? cause.message : String(cause)}`,
      );
    }
  };
}
