/** The part in the keeper: the rows of batches, and which worker runs which of them. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { BatchBook, type Kept } from "./book.ts";
import type { BatchAnswer, BatchAsk, BatchesDown, BatchesUp } from "./messages.ts";
import { batchesPart } from "./slots.ts";
import { secretOfBatches } from "./tables.ts";

/** How long a node has a batch without a sign of life, and how often it gives one. Milliseconds. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
/** How often a node looks for batches that no node has. Milliseconds. */
const LOOK_MS = 5_000;

/** A worker that runs batches. */
interface Worker {
  readonly send: (message: BatchesDown) => void;
  /** By their ids. */
  readonly runs: Map<string, number>;
  folder?: string;
}

export function start(host: KeeperHost): KeeperPart<BatchesUp, BatchesDown> {
  return new BatchesKeeper(host);
}

class BatchesKeeper implements KeeperPart<BatchesUp, BatchesDown> {
  readonly #host: KeeperHost;
  readonly #book: BatchBook;
  readonly #node = crypto.randomUUID();
  readonly #workers = new Set<Worker>();
  #secret: Promise<string> | undefined;
  #folder: string | undefined;
  #temporary: string | undefined;
  #renewing: ReturnType<typeof setInterval> | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;
  #assigning: Promise<void> = Promise.resolve();

  constructor(host: KeeperHost) {
    this.#host = host;
    this.#book = new BatchBook(host);
    batchesPart.set(host.offers, this.#book);
  }

  connect(send: (message: BatchesDown) => void) {
    const worker: Worker = { send, runs: new Map() };
    return {
      receive: (message: BatchesUp) => {
        if ("ask" in message) void this.#answer(worker, message.number, message.ask);
        else if ("ready" in message) void this.#ready(worker, message);
        else this.#left(worker);
      },
      ended: () => this.#left(worker),
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing);
    clearInterval(this.#looking);
    await this.#assigning;
    if (this.#temporary) rmSync(this.#temporary, { recursive: true, force: true });
  }

  async #answer(worker: Worker, number: number, ask: BatchAsk): Promise<void> {
    let answer: BatchAnswer | undefined;
    try {
      answer = await this.#answerTo(ask, worker);
      if ("create" in ask) this.#assign();
      if ("cancel" in ask && "batch" in answer) this.#stop(ask.cancel.id);
      if ("progress" in ask && "batch" in answer && answer.batch?.endedAt !== undefined)
        worker.runs.delete(ask.progress.id);
    } catch (cause) {
      this.#host.report(`batches: ${String(cause)}`);
    }
    worker.send({ number, ...(answer && { answer }) });
  }

  #answerTo(ask: BatchAsk, worker: Worker): Promise<BatchAnswer> {
    const book = this.#book;
    if ("create" in ask) return book.create(ask.create);
    if ("get" in ask) return book.get(ask.get.id, ask.get.seer);
    if ("list" in ask) return book.list(ask.list.seer, ask.list);
    if ("cancel" in ask) return book.cancel(ask.cancel.id, ask.cancel.seer);
    if ("remove" in ask) return book.remove(ask.remove.id, ask.remove.seer);
    if ("again" in ask) return this.#again(ask.again, worker);
    return book.progress(ask.progress.id, ask.progress.fence, ask.progress);
  }

  async #again({ id, fence }: { id: string; fence: number }, worker: Worker): Promise<BatchAnswer> {
    const next = await this.#book.claim(id, fence, this.#node, Date.now() + LEASE_MS);
    if (next === undefined) return { refused: "stale" };
    worker.runs.set(id, next);
    return { fence: next };
  }

  /** Tells the runner of a batch that it was cancelled. Runners of other nodes learn it when they report. */
  #stop(id: string): void {
    for (const worker of this.#workers) if (worker.runs.has(id)) worker.send({ stop: id });
  }

  async #ready(worker: Worker, { ready, folder }: Extract<BatchesUp, { ready: unknown }>): Promise<void> {
    if (folder !== undefined) worker.folder = folder;
    try {
      for (const { id, fence } of ready)
        if (await this.#book.adopt(id, fence, this.#node, Date.now() + LEASE_MS)) worker.runs.set(id, fence);
        else worker.send({ lost: id });
    } catch (cause) {
      this.#host.report(`batches: ${String(cause)}`);
    }
    this.#workers.add(worker);
    this.#renewing ??= setInterval(() => void this.#renew(), RENEW_MS);
    this.#looking ??= setInterval(() => this.#assign(), LOOK_MS);
    worker.send({ until: Date.now() + LEASE_MS });
    this.#assign();
  }

  #left(worker: Worker): void {
    if (!this.#workers.delete(worker)) return;
    const ids = [...worker.runs.keys()];
    worker.runs.clear();
    this.#assigning = this.#assigning
      .then(() => this.#book.release(ids, this.#node))
      .catch((cause: unknown) => this.#host.report(`batches: ${String(cause)}`));
    this.#assign();
  }

  async #renew(): Promise<void> {
    const until = Date.now() + LEASE_MS;
    for (const worker of this.#workers)
      try {
        const ids = [...worker.runs.keys()];
        const kept = new Set(await this.#book.renew(ids, this.#node, until));
        for (const id of ids)
          if (!kept.has(id)) {
            worker.runs.delete(id);
            worker.send({ lost: id });
          }
        worker.send({ until });
      } catch {
        // Without the store the lease runs out, and the workers wait.
      }
  }

  /** Gives batches that no node has to the workers with the fewest of them. */
  #assign(): void {
    this.#assigning = this.#assigning.then(async () => {
      try {
        if (this.#workers.size === 0) return;
        for (const kept of await this.#book.open(Date.now())) await this.#give(kept);
      } catch (cause) {
        this.#host.report(`batches: ${String(cause)}`);
      }
    });
  }

  async #give(kept: Kept): Promise<void> {
    const [worker] = [...this.#workers].sort((a, b) => a.runs.size - b.runs.size);
    if (!worker) return;
    const until = Date.now() + LEASE_MS;
    const key = await (this.#secret ??= secretOfBatches(this.#host));
    const fence = await this.#book.claim(kept.batch.id, kept.fence, this.#node, until);
    if (fence === undefined) return;
    const { batch, owner } = kept;
    worker.runs.set(batch.id, fence);
    worker.send({ run: { batch, owner, fence, key, until, folder: this.#folderOf(worker, batch.id) } });
  }

  #folderOf({ folder }: Worker, id: string): string {
    const whole = folder ?? (this.#folder ??= this.#ownFolder());
    const own = join(whole, id);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return own;
  }

  #ownFolder(): string {
    const { folder } = this.#host;
    if (folder !== undefined) return join(folder, "batches");
    return (this.#temporary ??= mkdtempSync(join(tmpdir(), "weir-batches-")));
  }
}
