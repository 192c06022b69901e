/** Workers, time and a store for tests of the books: everything runs in one process, and the test turns the clock. */
import type { BooksClock } from "../../../src/keeper/books/clock.ts";
import { Books } from "../../../src/keeper/books/books.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { BookStore } from "../../../src/keeper/store/store.ts";
import { createCells } from "../../../src/keeper/books/cells.ts";
import type { Cells } from "../../../src/ledger/cells.ts";
import type { BooksDown, BooksUp, Refusal } from "../../../src/ledger/messages.ts";
import type { Budget, Declared, RateLimit } from "../../../src/ledger/policy.ts";
import type { PriceSettings } from "../../../src/ledger/prices/settings.ts";
import { type CallRecord, RECORD_FORMAT, type RecordBatch, type Spend } from "../../../src/ledger/record.ts";

/** A clock that stands still until the test advances it. */
export class TestClock implements BooksClock {
  time = 0;
  /** Added to the system's time: jumps. */
  jump = Date.parse("2026-11-22T12:00:00Z");
  #timers: { at: number; run: () => void }[] = [];

  wall = () => this.time + this.jump;
  monotonic = () => this.time;

  after = (ms: number, run: () => void) => {
    const timer = { at: this.time + ms, run };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  };

  /** Runs what is due, in order, and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await settle();
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
      await settle();
    }
    this.time = end;
    await settle();
  }
}

/** A clock that a keeper uses until it is killed. */
export function mortalClock(clock: TestClock): BooksClock & { kill(): void } {
  let isDead = false;
  return {
    wall: clock.wall,
    monotonic: clock.monotonic,
    after: (ms, run) => clock.after(ms, () => !isDead && run()),
    kill: () => void (isDead = true),
  };
}

/** Lets all promises that can settle do so: the event loop runs every microtask before its next task. */
export async function settle(): Promise<void> {
  await new Promise<void>((done) => setImmediate(done));
}

export const budgetOf = (changes: Partial<Budget> = {}): Budget => ({
  id: "one",
  name: "one",
  on: { kind: "all", what: "" },
  window: "total",
  zone: "UTC",
  limit: 10_000,
  mode: "hard",
  onEmpty: "refuse",
  alerts: [],
  source: "config",
  ...changes,
});

export const rateOf = (limits: RateLimit["limits"], burst?: RateLimit["burst"]): RateLimit => ({
  id: "rate",
  name: "rate",
  on: { kind: "all", what: "" },
  limits,
  ...(burst && { burst }),
  source: "config",
});

export const declaredOf = (budgets: readonly Budget[], rates: readonly RateLimit[] = []): Declared => ({
  keys: [],
  budgets,
  rates,
});

export const SETTINGS = {
  keepDays: { calls: 1, hours: 1, sessions: 1 },
  callBytes: 1e9,
  onLoss: "hard-closed" as const,
  metrics: { keys: true, maxSeries: 100 },
  prices: {},
};

export interface Need {
  account: string;
  need: number;
}

/** A worker as the keeper sees one: shares in cells, holds, batches that are kept until they are stored. */
export class TestWorker {
  readonly life: string;
  readonly heard: BooksDown[] = [];
  readonly held = new Map<string, number>();
  cells: Cells;
  isDead = false;
  #connection: { receive(message: BooksUp): void; ended(): void } | undefined;
  #cell = new Map<string, number>();
  #spends = new Map<string, Spend>();
  #unstored: RecordBatch[] = [];
  #seq = 0;
  #asks = new Map<number, { needs: readonly Need[]; done(refusals?: readonly Refusal[]): void }>();
  #number = 0;
  #connections = 0;
  readonly #declared: Declared;
  readonly #worker: number;

  constructor(books: Books, worker: number, declared: Declared, folder?: string, format?: number) {
    this.#worker = worker;
    this.#declared = declared;
    this.life = `life-${worker}-${Math.random().toString(36).slice(2)}`;
    this.cells = createCells(folder, `worker-${this.life}`);
    this.connect(books, format);
  }

  connect(books: Books, format: number = RECORD_FORMAT): void {
    this.seal();
    const number = ++this.#connections;
    this.#connection = books.connect((message) =>
      queueMicrotask(() => number === this.#connections && this.#take(message)),
    );
    this.#send({
      kind: "hello",
      format,
      life: this.life,
      worker: this.#worker,
      seq: this.#seq,
      // As a real worker: what it has nothing of is absent.
      shares: [...this.#cell.keys()]
        .map((account) => ({ account, amount: this.left(account) + (this.held.get(account) ?? 0) }))
        .filter(({ amount }) => amount !== 0),
      ...(this.cells.file !== undefined && { cells: this.cells.file }),
    });
    this.#send({ kind: "declare", declared: this.#declared, prices: [], settings: SETTINGS });
    for (const batch of this.#unstored) this.#send({ kind: "records", batch });
    for (const [number, { needs }] of this.#asks) this.#send({ kind: "ask", number, needs });
  }

  /** The keeper is gone. */
  disconnect(): void {
    this.#connection = undefined;
    this.#connections++;
  }

  /** The connection breaks, and both sides live. */
  drop(): void {
    this.#connection?.ended();
    this.disconnect();
  }

  /** A new declaration, as after a reload. */
  declare(declared: Declared, prices: PriceSettings = {}): void {
    this.#send({ kind: "declare", declared, prices: [], settings: { ...SETTINGS, prices } });
  }

  left(account: string): number {
    return this.cells.values[this.#of(account)]!;
  }

  /** Holds what a call needs. @returns undefined, or why it was refused */
  async hold(needs: readonly Need[]): Promise<readonly Refusal[] | undefined> {
    for (let isRepeated = false; ; isRepeated = true) {
      if (needs.every(({ account, need }) => this.left(account) >= need)) {
        for (const { account, need } of needs) {
          this.#add(account, -need);
          this.held.set(account, (this.held.get(account) ?? 0) + need);
        }
        return undefined;
      }
      const short = needs.filter(({ account, need }) => this.left(account) < need);
      // As a real worker: a recall may have taken what was left at the first ask, so the second one asks for all. Else both
      // parts could be granted and recalled in turn, for ever.
      const asked = short.map(({ account, need }) => ({
        account,
        need: isRepeated ? need : need - Math.max(0, this.left(account)),
      }));
      const { promise, resolve } = Promise.withResolvers<readonly Refusal[] | undefined>();
      const number = ++this.#number;
      this.#asks.set(number, { needs: asked, done: resolve });
      this.#send({ kind: "ask", number, needs: asked });
      const refusals = await promise;
      if (refusals === undefined) continue;
      // A recall took what was left meanwhile: the refusal was for less than the call lacks, so it holds all the more.
      if (!needs.every(({ account, need }) => this.left(account) >= need)) return refusals;
    }
  }

  /** Holds what a process held that has ended. @returns undefined, or why it was refused */
  async holdAgain(account: string, need: number): Promise<readonly Refusal[] | undefined> {
    const { promise, resolve } = Promise.withResolvers<readonly Refusal[] | undefined>();
    const number = ++this.#number;
    const needs = [{ account, need }];
    this.#asks.set(number, { needs, done: resolve });
    this.#send({ kind: "ask", number, needs, heldBefore: true });
    const refusals = await promise;
    return refusals ?? this.hold(needs);
  }

  /** Ends a hold. @param cost what was used; more than the hold is an overrun */
  settle(account: string, held: number, cost: number): void {
    this.held.set(account, (this.held.get(account) ?? 0) - held);
    this.#add(account, held - cost);
    if (!account.startsWith("b:")) return;
    const spend = this.#spends.get(account) ?? { account, spent: 0, assumed: 0, overrun: 0 };
    spend.spent += cost;
    spend.overrun += Math.max(0, cost - held);
    this.#spends.set(account, spend);
  }

  /** Returns a part of a share that the keeper has not asked for. */
  giveBack(account: string, amount: number): void {
    this.#add(account, -amount);
    this.#send({ kind: "return", account, amount, number: 0 });
  }

  /** Sends what was spent since the last batch. */
  flush(): void {
    const batch = this.seal();
    if (batch) this.#send({ kind: "records", batch });
  }

  /** Sends a batch with records of calls, and what was spent since the last one. */
  record(count: number, changes: Partial<CallRecord> = {}): void {
    const seq = ++this.#seq;
    const calls = Array.from({ length: count }, (_, n) => ({
      ...callOf(`req_${this.life}-${seq}-${n}`),
      ...changes,
    }));
    const spends = [...this.#spends.values()];
    this.#spends = new Map();
    const batch: RecordBatch = { seq, calls, spends, prices: [] };
    this.#unstored.push(batch);
    this.#send({ kind: "records", batch });
  }

  seal(): RecordBatch | undefined {
    if (this.#spends.size === 0) return undefined;
    const batch: RecordBatch = {
      seq: ++this.#seq,
      calls: [],
      spends: [...this.#spends.values()],
      prices: [],
    };
    this.#spends = new Map();
    this.#unstored.push(batch);
    return batch;
  }

  /** Ends in order: all is reported and returned. */
  end(): void {
    this.flush();
    for (const account of this.#cell.keys()) {
      const amount = this.left(account);
      this.#add(account, -amount);
      this.#send({ kind: "return", account, amount });
    }
    this.kill();
  }

  /** Dies as by a signal: nothing is sent. */
  kill(): void {
    this.isDead = true;
    this.#connection?.ended();
    this.#connection = undefined;
  }

  get unstored(): number {
    return this.#unstored.length;
  }

  #send(message: BooksUp): void {
    if (!this.isDead) this.#connection?.receive(structuredClone(message));
  }

  #take(message: BooksDown): void {
    if (this.isDead) return;
    this.heard.push(message);
    if (message.kind === "grant") {
      for (const { account, amount } of message.grants) this.#add(account, amount);
      this.#end(message.number);
    } else if (message.kind === "refusal") this.#end(message.number, message.refusals);
    else if (message.kind === "recall") {
      const amount = this.left(message.account);
      this.#add(message.account, -amount);
      const { account, number } = message;
      this.#send({ kind: "return", account, amount, ...(number !== undefined && { number }) });
    } else if (message.kind === "stored")
      this.#unstored = this.#unstored.filter(({ seq }) => seq > message.seq);
  }

  #end(number: number, refusals?: readonly Refusal[]): void {
    this.#asks.get(number)?.done(refusals);
    this.#asks.delete(number);
  }

  #add(account: string, amount: number): void {
    this.cells.values[this.#of(account)]! += amount;
  }

  #of(account: string): number {
    let cell = this.#cell.get(account);
    if (cell === undefined) this.#cell.set(account, (cell = this.cells.reserve(account)!));
    return cell;
  }
}

function callOf(id: string): CallRecord {
  return {
    ...{ id, startedAt: 1, ms: 1, format: "chat-completions", model: "mock/chat", stream: false },
    ...{ status: 200, outcome: "complete", attempts: [] },
  };
}

export interface Opened {
  books: Books;
  /** The keeper stops as by a signal. */
  kill(): void;
  clock: TestClock;
  store: BookStore;
}

export async function openBooks(
  options: {
    store?: BookStore;
    clock?: TestClock;
    cells?: string;
    refused?: string;
    isAlive?: (file: string | undefined) => boolean | undefined;
  } = {},
): Promise<Opened> {
  const clock = options.clock ?? new TestClock();
  const store = options.store ?? sqliteStore(":memory:", clock.wall);
  const own = mortalClock(clock);
  const { cells, refused, isAlive } = options;
  const books = new Books({
    ...{ store, clock: own },
    ...(cells !== undefined && { cells }),
    ...(refused !== undefined && { refused }),
    ...(isAlive && { isAlive }),
  });
  books.open();
  await clock.advance(0);
  await books.opened;
  return { books, clock, store, kill: own.kill };
}
