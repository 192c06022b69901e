/** Recalls: workers return what they do not hold of an account. */
import type { Account } from "./account.ts";
import type { BooksClock } from "./clock.ts";
import type { Peer } from "./peers.ts";
import type { Peers } from "./peer-list.ts";

/** Maximum time for a worker to answer. Milliseconds. */
const ANSWER_MS = 100;

export class Recalls {
  readonly #clock: BooksClock;
  readonly #peers: Peers;
  /** What waits for the answer of a worker, by life and account. */
  readonly #waiting = new Map<string, Map<string, PromiseWithResolvers<void>>>();

  constructor(clock: BooksClock, peers: Peers) {
    this.#clock = clock;
    this.#peers = peers;
  }

  /** @returns when all workers that have shares have answered or are gone, or after a short time */
  async recall(accounts: readonly Account[]): Promise<void> {
    const answers = accounts.flatMap((account) =>
      [...account.shares.keys()].map((life) => this.#recallFrom(life, account.id)),
    );
    if (answers.length === 0) return;
    const late = Promise.withResolvers<void>();
    const cancel = this.#clock.after(ANSWER_MS, late.resolve);
    await Promise.race([Promise.all(answers), late.promise]);
    cancel();
  }

  answered({ life }: Peer, account: string): void {
    const waiting = this.#waiting.get(life);
    waiting?.get(account)?.resolve();
    waiting?.delete(account);
  }

  gone({ life }: Peer): void {
    for (const answer of this.#waiting.get(life)?.values() ?? []) answer.resolve();
    this.#waiting.delete(life);
  }

  #recallFrom(life: string, account: string): Promise<void> {
    let waiting = this.#waiting.get(life);
    if (!waiting) this.#waiting.set(life, (waiting = new Map()));
    let answer = waiting.get(account);
    if (!answer) waiting.set(account, (answer = Promise.withResolvers<void>()));
    // A worker without a connection comes back or is found dead.
    this.#peers.get(life)?.send?.({ kind: "recall", account });
    return answer.promise;
  }
}
