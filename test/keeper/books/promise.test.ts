/**
 * The promise of a hard budget, by random histories: what is spent, assumed and held never exceeds the limit by more than the overruns,
 * and no call is refused for money that is neither spent nor held.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { budgetOf, declaredOf, openBooks, type Opened, TestClock, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-promise-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ONE = "b:one@0";
const LIMIT = 10_000;
let runs = 0;

type Step =
  | { do: "call"; worker: number; need: number; cost: number; ms: number }
  | { do: "flush" | "kill" | "reconnect"; worker: number }
  | { do: "keeper" }
  | { do: "wait"; ms: number };

const worker = fc.integer({ min: 0, max: 3 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        do: fc.constant("call" as const),
        worker,
        need: fc.integer({ min: 1, max: 900 }),
        // In hundredths of the hold: some calls cost more than weir held.
        cost: fc.integer({ min: 0, max: 105 }),
        ms: fc.integer({ min: 0, max: 300 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom("flush" as const, "kill" as const, "reconnect" as const),
        worker,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("keeper" as const) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 15_000 }) }),
    },
  ),
  // Long enough that some history of each run asks for more than the budget.
  { minLength: 60, maxLength: 120 },
);

/** One history: workers, a keeper that may be replaced, and what is known from outside. */
class History {
  readonly #declared = declaredOf([budgetOf({ limit: LIMIT })]);
  readonly #cells = mkdtempSync(join(folder, "cells-"));
  readonly #path = join(folder, `${runs++}.db`);
  /** Files of the cells of killed workers. */
  readonly #dead = new Set<string | undefined>();
  readonly clock = new TestClock();
  opened!: Opened;
  workers: TestWorker[] = [];
  /** What settled calls have cost, and what calls of killed workers held: their providers may charge all of it. */
  used = 0;
  overrun = 0;
  refused = 0;
  readonly #running = new Set<{ worker: TestWorker; need: number }>();

  async start(): Promise<void> {
    await this.#open();
    this.workers = [0, 1, 2, 3].map((n) => this.#newWorker(n));
    await this.clock.advance(1);
  }

  async #open(): Promise<void> {
    const store = sqliteStore(this.#path, this.clock.wall);
    const isAlive = (file: string | undefined) => !this.#dead.has(file);
    this.opened = await openBooks({ clock: this.clock, store, cells: this.#cells, isAlive });
  }

  #newWorker(n: number): TestWorker {
    return new TestWorker(this.opened.books, n, this.#declared, this.#cells);
  }

  get held(): number {
    let held = 0;
    for (const { need } of this.#running) held += need;
    return held;
  }

  async step(step: Step): Promise<void> {
    if (step.do === "wait") return this.clock.advance(step.ms);
    if (step.do === "keeper") return this.#replaceKeeper();
    const worker = this.workers[step.worker]!;
    if (step.do === "call") void this.#call(worker, step);
    else if (step.do === "flush") worker.flush();
    else if (step.do === "reconnect") {
      worker.drop();
      worker.connect(this.opened.books);
    } else this.#kill(worker, step.worker);
    await this.clock.advance(1);
  }

  #kill(worker: TestWorker, n: number): void {
    for (const running of [...this.#running]) {
      if (running.worker !== worker) continue;
      this.used += running.need;
      this.#running.delete(running);
    }
    this.#dead.add(worker.cells.file);
    worker.kill();
    this.workers[n] = this.#newWorker(n);
  }

  async #call(worker: TestWorker, { need, cost: share, ms }: Extract<Step, { do: "call" }>): Promise<void> {
    const refusals = await worker.hold([{ account: ONE, need }]);
    if (refusals) {
      this.refused++;
      const free = LIMIT - this.used - this.held;
      if (free >= need) this.faults.push(`refused ${need} although ${free} are free`);
      return;
    }
    const running = { worker, need };
    this.#running.add(running);
    this.check();
    this.clock.after(ms, () => {
      if (!this.#running.delete(running)) return;
      const cost = Math.floor((need * share) / 100);
      worker.settle(ONE, need, cost);
      this.used += cost;
      this.overrun += Math.max(0, cost - need);
      this.check();
    });
  }

  readonly faults: string[] = [];

  check(): void {
    const most = LIMIT + this.overrun;
    if (this.used + this.held > most) this.faults.push(`${this.used} used and ${this.held} held of ${most}`);
  }

  async #replaceKeeper(): Promise<void> {
    this.opened.kill();
    for (const worker of this.workers) worker.disconnect();
    await this.opened.store.close();
    await this.#open();
    for (const worker of this.workers) worker.connect(this.opened.books);
    await this.clock.advance(1);
  }

  /** All calls end, all is reported, and all that is idle returns. */
  async rest() {
    await this.clock.advance(1_000);
    for (const worker of this.workers) worker.flush();
    await this.clock.advance(60_000);
    return this.opened.store.accounts(this.clock.wall());
  }
}

test("no history of calls, killed workers and killed keepers exceeds a hard budget or refuses what is free", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const history = new History();
      await history.start();
      for (const step of all) await history.step(step);
      const [row] = await history.rest();
      expect(history.faults).toEqual([]);
      if (row) {
        expect(row.spent + row.assumed).toBe(history.used);
        expect([row.granted, row.own]).toEqual([0, 0]);
        expect(row.overrun).toBeLessThanOrEqual(history.overrun);
      }
      refused += history.refused;
      const closed = history.opened.books.close();
      await history.clock.advance(3_000);
      await closed;
    }),
    {
      numRuns: Number(process.env["WEIR_RUNS"] ?? 40),
      endOnFailure: true,
      ...(process.env["SEED"] && { seed: Number(process.env["SEED"]) }),
    },
  );
  expect(refused).toBeGreaterThan(0);
}, 120_000);
