/** Recalls: workers return what they do not hold of an account. */
import type { Account } from "./account.ts";
import type { BooksClock } from "./clock.ts";
import type { Peer } from "./peers.ts";
import type { Peers } from "./peer-list.ts";

/** Maximum time for a worker to answer: one that is busy or looks for a new keeper needs longer than usual. Milliseconds. */
const ANSWER_MS = 1_000;
/** The same while all workers that are asked owe the answers to earlier recalls. Milliseconds. */
const LATE_MS = 100;

/** Lives of the workers that have not answered a recall, by account: what they have may be free. */
export type Silent = ReadonlyMap<Account, readonly string[]>;

interface Recall {
  number: number;
  answered: PromiseWithResolvers<void>;
  isLate: boolean;
}

export class Recalls {
  readonly #clock: BooksClock;
  readonly #peers: Peers;
  /** Recalls that wait for the answer of a worker, by life and account, the oldest first. */
  readonly #waiting = new Map<string, Map<string, Recall[]>>();
  #number = 0;

  constructor(clock: BooksClock, peers: Peers) {
    this.#clock = clock;
    this.#peers = peers;
  }

  /**
   * @param ms maximum time for the answers
   * @returns when all workers that have shares have answered or are gone, or after that time
   */
  async recall(accounts: readonly Account[], ms?: number): Promise<Silent> {
    const asked = accounts.flatMap((account) =>
      [...account.shares.keys()].map((life) => {
        const wasLate = this.#of(life, account.id).some(({ isLate }) => isLate);
        return { account, life, wasLate, recall: this.#recallFrom(life, account.id) };
      }),
    );
    if (asked.length === 0) return new Map();
    const late = Promise.withResolvers<void>();
    const patience = ms ?? (asked.every(({ wasLate }) => wasLate) ? LATE_MS : ANSWER_MS);
    const cancel = this.#clock.after(patience, late.resolve);
    await Promise.race([Promise.all(asked.map(({ recall }) => recall.answered.promise)), late.promise]);
    cancel();
    const silent = new Map<Account, string[]>();
    for (const { account, life, recall } of asked) {
      if (!this.#of(life, account.id).includes(recall)) continue;
      recall.isLate = true;
      silent.set(account, [...(silent.get(account) ?? []), life]);
    }
    return silent;
  }

  /** A worker has a new connection: recalls that it has not answered may not have reached it. */
  back({ life, send }: Peer): void {
    for (const [account, recalls] of this.#waiting.get(life) ?? [])
      send?.({ kind: "recall", account, number: recalls.at(-1)!.number });
  }

  /** @param number of the recall; those before it are answered too. Absent: all, for workers that do not number their answers */
  answered({ life }: Peer, account: string, number = Infinity): void {
    const left = this.#of(life, account).filter((recall) => {
      if (recall.number <= number) recall.answered.resolve();
      return recall.number > number;
    });
    if (left.length > 0) this.#waiting.get(life)!.set(account, left);
    else this.#waiting.get(life)?.delete(account);
  }

  gone(life: string): void {
    for (const recalls of this.#waiting.get(life)?.values() ?? [])
      for (const { answered } of recalls) answered.resolve();
    this.#waiting.delete(life);
  }

  #of(life: string, account: string): readonly Recall[] {
    return this.#waiting.get(life)?.get(account) ?? [];
  }

  #recallFrom(life: string, account: string): Recall {
    const recall = { number: ++this.#number, answered: Promise.withResolvers<void>(), isLate: false };
    let waiting = this.#waiting.get(life);
    if (!waiting) this.#waiting.set(life, (waiting = new Map()));
    waiting.set(account, [...(waiting.get(account) ?? []), recall]);
    // A worker without a connection comes back or is found dead.
    this.#peers.get(life)?.send?.({ kind: "recall", account, number: recall.number });
    return recall;
  }
}
