/** Reports to all workers whether the store can be used, and to one of them the lines for the log. */
import type { BooksDown } from "../../ledger/messages.ts";
import { formatNano } from "../../ledger/money.ts";
import { isDeclared, type Policy } from "../../ledger/policy.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { BooksClock } from "./clock.ts";
import { describeStoreFailure } from "../store/database.ts";
import type { LostRows } from "../store/store.ts";
import { lostSets } from "./lost-sets.ts";

/** Shortest time between two reports of a store that cannot be used. Milliseconds. */
const AGAIN_MS = 60_000;

type Send = (message: BooksDown) => void;

export class Reporter {
  readonly #clock: BooksClock;
  readonly #onStore: (fault: string | undefined) => void;
  readonly #sends = new Set<Send>();
  /** Reports that no worker was there to log. */
  #waiting: BooksDown[] = [];
  readonly #known = Promise.withResolvers<void>();
  /** Ids of keys that were reported for their names. */
  readonly #twins = new Set<string>();
  /** The last messages about rules on sets that do not exist. */
  #lost: ReadonlySet<string> = new Set();
  /** Calls without rows of a feature since the last line about it, and when that was. */
  readonly #lostRows = new Map<string, { calls: number; at: number }>();
  #fault: string | undefined;
  #closedWhy: string | undefined;
  #isKnown = false;
  #isAway = false;
  #reportedAt = -Infinity;

  /** @param onStore called when the store is lost and when it is back: see {@link store} */
  constructor(clock: BooksClock, onStore: (fault: string | undefined) => void) {
    this.#clock = clock;
    this.#onStore = onStore;
  }

  /** One sentence while the store cannot be used. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Resolves when weir has tried to open the store. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  connected(send: Send): void {
    this.#sends.add(send);
    if (this.#isKnown) send(this.#status());
    for (const message of this.#waiting.splice(0)) send(message);
  }

  ended(send: Send): void {
    this.#sends.delete(send);
  }

  /** @param fault one sentence while a store of several nodes is away; absent: it is back */
  shared(fault: string | undefined): void {
    this.#isAway = false;
    this.store(fault);
    this.#isAway = fault !== undefined;
  }

  /** @param fault one sentence about the store; absent: it can be used */
  store(fault: string | undefined): void {
    // While a shared store is away commits wait in its spool: that they succeed says nothing.
    if (this.#isAway) return;
    if (this.#isKnown && fault === this.#fault) return;
    const before = this.#fault;
    this.#isKnown = true;
    this.#known.resolve();
    this.#fault = fault;
    for (const send of this.#sends) send(this.#status());
    this.#onStore(fault);
    if (fault === undefined) {
      if (before !== undefined) this.#report("info", "the books are written again");
    } else if (this.#clock.monotonic() - this.#reportedAt >= AGAIN_MS) {
      this.#reportedAt = this.#clock.monotonic();
      this.#report("fault", `records of calls wait: ${fault}`);
    }
  }

  alert({ budget, endsAt }: BudgetAccount, percent: number): void {
    const until = endsAt === undefined ? "" : `; it resets on ${dateOf(endsAt)}`;
    this.#report(
      "fault",
      `the budget "${budget.name}" has reached ${percent} % of ${formatNano(budget.limit)}${until}`,
    );
  }

  /** Reports what of the store and the config does not fit together, each once. */
  policy(policy: Policy): void {
    this.#keys(policy);
    const lost = lostSets(policy);
    for (const sentence of lost) if (!this.#lost.has(sentence)) this.other(sentence);
    this.#lost = new Set(lost);
  }

  /** Reports keys of the store that have the name of a key of the config, each once. */
  #keys({ keys }: Policy): void {
    const declared = new Set(keys.filter(isDeclared).map(({ name }) => name));
    for (const key of keys) {
      const { id, name, revokedAt } = key;
      if (isDeclared(key) || revokedAt !== undefined || !declared.has(name) || this.#twins.has(id)) continue;
      this.#twins.add(id);
      this.#report(
        "fault",
        `the key "${name}" is in the config and in the store (${id}); the name stands for the key of the config, so rename or revoke the other one by its id`,
      );
    }
  }

  /** Tells a worker that its records are not taken. @param why a clause */
  refuse(worker: number, why: string, send: Send): undefined {
    const fault = `the records of worker ${worker} are ${why}`;
    this.other(`${fault}; weir does not take them: restart it`);
    send({ kind: "store", fault });
  }

  /** Rows of a feature are not in the store: at most one line a minute for each feature. */
  lost({ feature, calls, cause }: LostRows): void {
    const now = this.#clock.monotonic();
    const { at, calls: before } = this.#lostRows.get(feature) ?? { at: -Infinity, calls: 0 };
    const sum = before + calls;
    const isDue = now - at >= AGAIN_MS;
    this.#lostRows.set(feature, isDue ? { calls: 0, at: now } : { calls: sum, at });
    if (isDue)
      this.other(
        `${sum} ${sum === 1 ? "call has" : "calls have"} no rows in the tables of ${feature}: ${describeStoreFailure(cause)}; records and charges of calls are in the books`,
      );
  }

  /** @param why the store is not released, in one sentence; absent: it is */
  closed(why: string | undefined): void {
    if (why !== undefined && why !== this.#closedWhy) this.other(why);
    this.#closedWhy = why;
  }

  /** Something else that belongs into the log. */
  other(text: string): void {
    this.#report("fault", text);
  }

  #status(): BooksDown {
    return { kind: "store", ...(this.#fault !== undefined && { fault: this.#fault }) };
  }

  #report(level: "fault" | "info", text: string): void {
    const [send] = this.#sends;
    const message: BooksDown = { kind: "report", level, text };
    if (send) send(message);
    else this.#waiting.push(message);
  }
}

function dateOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
