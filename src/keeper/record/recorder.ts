/** Writes what arrives at the keeper to the store, in commits of bounded size. What could not be written is written later. */
import type { Margin } from "../../ledger/margins.ts";
import type { RecordBatch } from "../../ledger/record.ts";
import type { BooksClock } from "../books/clock.ts";
import { divide, isRefusal, REFUSALS, RefusedFile, withoutCalls } from "./refused.ts";
import type { BookStore, Commit } from "../store/store.ts";

/** Most rows of one commit: other work waits for it. */
const MAX_ROWS = 500;
/** Delay after a commit that failed, doubled up to the longest. Milliseconds. */
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;

interface Batch {
  life: string;
  worker: number;
  batch: RecordBatch;
  /** Called when the batch is in the store. */
  stored(this: void): void;
}

export interface RecorderOptions {
  store: Pick<BookStore, "commit">;
  clock: BooksClock;
  /** Maximum time between the arrival of a record and its commit, milliseconds. */
  syncMs: number;
  /** Called after each commit. @param ms its duration @param fault the error of a commit that failed */
  onCommit(ms: number, fault?: unknown): void;
  /** File of what the store refuses; absent: it is lost. */
  refused: string | undefined;
  /** The store refuses a commit for good, or only its records of calls. @param sentence for the log */
  onRefused(commit: Commit, sentence: string): void;
  /** An amount of an account is back in the store. */
  onReturned(account: string, amount: number): void;
  /** Something is in the store. */
  onCommitted(): void;
}

/** A commit that is being written. */
interface Next {
  batches: readonly Batch[];
  commit: Commit;
  /** Called when it is in the store. */
  after: readonly (() => void)[];
  /** How often the store has refused it. */
  refusals: number;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #refused: RefusedFile;
  #batches: Batch[] = [];
  readonly #returns = new Map<string, number>();
  #assumptions: { account: string; amount: number; why: string }[] = [];
  readonly #alerted = new Map<string, number>();
  readonly #margins = new Map<string, Margin>();
  readonly #rates = new Map<string, { level: number; at: number }>();
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #pause = RETRY_MS;
  /** The commit that runs or has failed. */
  #next: Next | undefined;
  /** The other parts of a commit that was divided. */
  #parts: Next[] = [];
  /** Called when all that waits now is in the store. */
  #after: (() => void)[] = [];
  /** Names this run of the keeper, and its newest commit. */
  readonly #life = crypto.randomUUID();
  #seq = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#refused = new RefusedFile(options.refused);
  }

  /** Number of batches that are not in the store. */
  get waiting(): number {
    const parts = this.#parts.reduce((sum, { batches }) => sum + batches.length, 0);
    return this.#batches.length + (this.#next?.batches.length ?? 0) + parts;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#schedule();
  }

  /** An amount of an account returns to the store. */
  giveBack(account: string, amount: number): void {
    add(this.#returns, account, amount);
    this.#schedule();
  }

  /** @returns the amount that was to be returned; it stays at this node */
  keep(account: string): number {
    const amount = this.#returns.get(account) ?? 0;
    this.#returns.delete(account);
    return amount;
  }

  assume(account: string, amount: number, why: string): void {
    this.#assumptions.push({ account, amount, why });
    this.#schedule();
  }

  alert(account: string, percent: number): void {
    this.#alerted.set(account, Math.max(percent, this.#alerted.get(account) ?? 0));
    this.#schedule();
  }

  margin(margin: Margin): void {
    this.#margins.set(`${margin.target} ${margin.kind}`, margin);
    this.#schedule();
  }

  /** Calls a function when everything that has arrived so far is in the store. */
  afterCommit(done: () => void): void {
    if (this.isEmpty) return done();
    this.#after.push(done);
    this.#schedule();
  }

  rate(account: string, level: number, at: number): void {
    this.#rates.set(account, { level, at });
    this.#schedule();
  }

  /** Writes all that waits. @returns when it is written, or when a commit has failed */
  async flush(): Promise<void> {
    while (this.#isWaiting()) {
      this.#cancel?.();
      this.#cancel = undefined;
      // What is refused is repeated at once, and then set aside.
      const refusals = this.#next?.refusals ?? 0;
      if (!(await this.#commit()) && (this.#next?.refusals ?? 0) === refusals) return;
    }
  }

  #schedule(ms = this.#options.syncMs): void {
    this.#cancel ??= this.#options.clock.after(ms, () => {
      this.#cancel = undefined;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    if (!(await this.#commit())) {
      const pause = this.#pause;
      this.#pause = Math.min(LONGEST_RETRY_MS, pause * 2);
      return this.#schedule(pause);
    }
    this.#pause = RETRY_MS;
    if (this.#isWaiting()) this.#schedule(this.#batches.length > 0 ? 0 : this.#options.syncMs);
  }

  /** One commit at a time. @returns whether it succeeded */
  async #commit(): Promise<boolean> {
    while (this.#running) await this.#running;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running = promise;
    try {
      return await this.#commitNext();
    } finally {
      this.#running = undefined;
      resolve();
    }
  }

  /** A commit that failed is repeated as it was, because the store may have applied it all the same. */
  async #commitNext(): Promise<boolean> {
    const { store, onCommit, onReturned, onCommitted } = this.#options;
    const next = (this.#next ??= this.#number(this.#parts.shift() ?? this.#take()));
    const began = performance.now();
    try {
      await store.commit(next.commit);
    } catch (fault) {
      onCommit(performance.now() - began, fault);
      return isRefusal(fault) && ++next.refusals >= REFUSALS && this.#reduce(next, fault);
    }
    this.#next = undefined;
    onCommit(performance.now() - began);
    for (const { account, amount } of next.commit.returns) onReturned(account, amount);
    for (const { stored } of next.batches) stored();
    for (const done of next.after) done();
    onCommitted();
    return true;
  }

  /** Replaces a commit that the store refuses by what it may take. @returns true, because work goes on */
  #reduce({ batches, commit, after }: Next, fault: unknown): true {
    // The first refusals were of the whole: one more is enough for a part of it.
    const part = (reduced: Commit, of: readonly Batch[]): Next => ({
      ...{ batches: of, commit: reduced, after: [], refusals: REFUSALS - 1 },
    });
    const parts = divide(commit);
    const money = parts ? undefined : withoutCalls(commit);
    if (parts) {
      const singles = parts.batches.map((single, index) => part(single, [batches[index]!]));
      this.#parts.push(...(parts.rest ? [part(parts.rest, [])] : []), ...singles);
    } else {
      const sentence = this.#refused.add(commit, fault, !money, this.#options.clock.wall());
      this.#options.onRefused(commit, sentence);
      if (money) this.#parts.unshift(part(money, batches));
      else for (const { stored } of batches) stored();
    }
    this.#next = undefined;
    this.#after.unshift(...after);
    return true;
  }

  /** Commits are numbered in the order in which they are written. */
  #number(next: Next): Next {
    return { ...next, commit: { ...next.commit, once: { life: this.#life, seq: ++this.#seq } } };
  }

  #take(): Next {
    const batches = this.#batches.splice(0, this.#fitting());
    const after = this.#batches.length === 0 ? this.#after.splice(0) : [];
    const commit: Commit = {
      batches: batches.map(({ life, worker, batch }) => ({ life, worker, ...batch })),
      returns: [...this.#returns].map(([account, amount]) => ({ account, amount })),
      assumptions: this.#assumptions,
      alerted: [...this.#alerted].map(([account, percent]) => ({ account, percent })),
      margins: [...this.#margins.values()],
      rates: [...this.#rates].map(([account, rate]) => ({ account, ...rate })),
    };
    this.#assumptions = [];
    for (const map of [this.#returns, this.#alerted, this.#margins, this.#rates]) map.clear();
    return { batches, commit, after, refusals: 0 };
  }

  /** Number of batches in the next commit. */
  #fitting(): number {
    let rows = 0;
    const end = this.#batches.findIndex(({ batch }, index) => {
      rows += batch.calls.length;
      return index > 0 && rows > MAX_ROWS;
    });
    return end === -1 ? this.#batches.length : end;
  }

  get isEmpty(): boolean {
    return !this.#isWaiting();
  }

  #isWaiting(): boolean {
    if (this.#next || this.#parts.length > 0) return true;
    return (
      this.#batches.length +
        this.#after.length +
        this.#returns.size +
        this.#assumptions.length +
        this.#alerted.size +
        this.#margins.size +
        this.#rates.size >
      0
    );
  }
}

function add(map: Map<string, number>, name: string, amount: number): void {
  const sum = (map.get(name) ?? 0) + amount;
  if (sum === 0) map.delete(name);
  else map.set(name, sum);
}
