/** The part in the keeper: the rows of batches, and which worker runs which of them. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { BatchBook, type Kept } from "./book.ts";
import type { BatchAnswer, BatchAsk, BatchesDown, BatchesUp, RunnerId } from "./messages.ts";
import { batchesPart, runnerStop } from "./slots.ts";
import type { Sweep } from "./sweep.ts";
import { secretOfBatches } from "./tables.ts";
import { EventSender } from "./webhooks/sender.ts";

/** How long a runner has its batch after its worker has given a sign of life. Milliseconds. */
const LEASE_MS = 10_000;
/** How often a node looks for batches that no node has. Milliseconds. */
const LOOK_MS = 5_000;
/** How often what is left of old batches is removed. The first time is one such time after the first worker is ready. */
const SWEEP_MS = 600_000;

/** A worker that runs batches. */
interface Worker {
  readonly send: (message: BatchesDown) => void;
  /** Fencing numbers by the ids of their batches. */
  readonly runs: Map<string, number>;
  /** It gets batches. */
  isReady: boolean;
  folder?: string;
}

export function start(host: KeeperHost): KeeperPart<BatchesUp, BatchesDown> {
  return new BatchesKeeper(host);
}

class BatchesKeeper implements KeeperPart<BatchesUp, BatchesDown> {
  readonly #host: KeeperHost;
  readonly #book: BatchBook;
  readonly #events: EventSender;
  readonly #node = crypto.randomUUID();
  readonly #workers = new Set<Worker>();
  #secret: Promise<string> | undefined;
  #folder: string | undefined;
  #temporary: string | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #sweep: Promise<Sweep> | undefined;
  #assigning: Promise<void> = Promise.resolve();

  constructor(host: KeeperHost) {
    this.#host = host;
    this.#events = new EventSender({ host });
    this.#book = new BatchBook(host, () => this.#events.isOn);
    batchesPart.set(host.offers, this.#book);
    runnerStop.set(host.offers, (id) => this.#stop(id));
  }

  connect(send: (message: BatchesDown) => void) {
    const worker: Worker = { send, runs: new Map(), isReady: false };
    this.#workers.add(worker);
    return {
      receive: (message: BatchesUp) => {
        if ("ask" in message) void this.#answer(worker, message.number, message.ask);
        else if ("webhook" in message) this.#events.to(message.webhook ?? undefined);
        else if ("ready" in message) void this.#ready(worker, message);
        else this.#gone(worker, message.gone);
      },
      // Its runners may go on: their leases say how long. The worker may have lost the keeper alone.
      ended: () => void this.#workers.delete(worker),
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    clearInterval(this.#sweeping);
    await this.#assigning;
    await (await this.#sweep)?.close();
    await this.#events.close();
    if (this.#temporary) rmSync(this.#temporary, { recursive: true, force: true });
  }

  async #answer(worker: Worker, number: number, ask: BatchAsk): Promise<void> {
    let answer: BatchAnswer | undefined;
    try {
      answer = await this.#answerTo(ask, worker);
      if ("create" in ask) this.#assign();
      if ("cancel" in ask && "batch" in answer) this.#stop(ask.cancel.id);
      if ("progress" in ask && "batch" in answer && answer.batch?.endedAt !== undefined) {
        worker.runs.delete(ask.progress.id);
        void this.#events.look();
      }
    } catch (cause) {
      this.#host.report(`batches: ${String(cause)}`);
    }
    worker.send({ number, ...(answer && { answer }) });
  }

  #answerTo(ask: BatchAsk, worker: Worker): Promise<BatchAnswer> {
    const book = this.#book;
    if ("create" in ask) return book.create(ask.create);
    if ("reserve" in ask) return book.reserve(ask.reserve);
    if ("get" in ask) return book.get(ask.get.id, ask.get.seer);
    if ("list" in ask) return book.list(ask.list.seer, ask.list);
    if ("cancel" in ask) return book.cancel(ask.cancel.id, ask.cancel.seer);
    if ("remove" in ask) return book.remove(ask.remove.id, ask.remove.seer);
    if ("lost" in ask) return book.lost(ask.lost);
    if ("booked" in ask) return book.booked(ask.booked.id);
    if ("again" in ask) return this.#again(ask.again, worker);
    return book.progress(ask.progress.id, ask.progress.fence, ask.progress);
  }

  async #again(runner: RunnerId, worker: Worker): Promise<BatchAnswer> {
    const until = Date.now() + LEASE_MS;
    const fence = await this.#book.again(runner, this.#node, until);
    if (fence === undefined) return { refused: "stale" };
    worker.runs.set(runner.id, fence);
    return { fence, until };
  }

  /** Tells the runner of a batch that it was cancelled. Runners of other nodes learn it when they report. */
  #stop(id: string): void {
    for (const worker of this.#workers) if (worker.runs.has(id)) worker.send({ stop: id });
  }

  async #ready(worker: Worker, message: Extract<BatchesUp, { ready: unknown }>): Promise<void> {
    const { ready, folder, isFull } = message;
    const isNew = !worker.isReady && !isFull;
    worker.folder = folder;
    worker.isReady = !isFull;
    this.#looking ??= setInterval(() => this.#assign(), LOOK_MS);
    this.#sweeping ??= setInterval(() => void this.#sweeps(), SWEEP_MS);
    const until = Date.now() + LEASE_MS;
    try {
      const held = await this.#book.renew(ready, this.#node, until);
      worker.send({ held: held.map(({ id, fence }) => ({ id, fence })), until });
      for (const { id, isStopping } of held) if (isStopping) worker.send({ stop: id });
      for (const { id, fence } of ready) this.#knows(worker, { id, fence }, held);
    } catch {
      // Without the store the leases run out, and the runners wait.
    }
    if (isNew) this.#assign();
  }

  #knows(worker: Worker, { id, fence }: RunnerId, held: readonly RunnerId[]): void {
    if (held.some((one) => one.id === id && one.fence === fence)) {
      if (this.#workers.has(worker)) worker.runs.set(id, fence);
      return;
    }
    if (worker.runs.get(id) === fence) worker.runs.delete(id);
    worker.send({ lost: { id, fence } });
  }

  #gone(worker: Worker, runner: RunnerId): void {
    worker.runs.delete(runner.id);
    this.#assigning = this.#assigning
      .then(() => this.#book.release(runner))
      .catch((cause: unknown) => this.#host.report(`batches: ${String(cause)}`));
    this.#assign();
  }

  /** Gives batches that no node has to the workers with the fewest of them. */
  #assign(): void {
    this.#assigning = this.#assigning.then(async () => {
      try {
        if (![...this.#workers].some(({ isReady }) => isReady)) return;
        for (const kept of await this.#book.open(Date.now())) await this.#give(kept);
      } catch (cause) {
        this.#host.report(`batches: ${String(cause)}`);
      }
    });
  }

  async #give({ batch, owner, fence: before }: Kept): Promise<void> {
    const { id } = batch;
    for (const worker of this.#workers) this.#missed(worker, id);
    const [worker] = [...this.#workers]
      .filter(({ isReady }) => isReady)
      .sort((a, b) => a.runs.size - b.runs.size);
    if (!worker) return;
    const key = await (this.#secret ??= secretOfBatches(this.#host));
    const now = Date.now();
    const until = now + LEASE_MS;
    const fence = await this.#book.claim({ id, fence: before }, this.#node, now, until);
    if (fence === undefined) return;
    worker.runs.set(id, fence);
    worker.send({ run: { batch, owner, fence, key, until, folder: join(this.#folderOf(worker), id) } });
  }

  /** Its code is loaded when it is used first. */
  async #sweeps(): Promise<void> {
    const folders = () => new Set([...this.#workers].map((worker) => this.#folderOf(worker)));
    this.#sweep ??= import("./sweep.ts").then(
      ({ Sweep }) => new Sweep({ host: this.#host, folders, now: Date.now }),
    );
    await (await this.#sweep).run();
  }

  /** A worker that let a lease run out, perhaps because it is stopped, gets no batches until it gives a sign of life. */
  #missed(worker: Worker, id: string): void {
    if (worker.runs.delete(id)) worker.isReady = false;
  }

  /** Of the journals. */
  #folderOf({ folder }: Worker): string {
    return folder ?? (this.#folder ??= this.#ownFolder());
  }

  #ownFolder(): string {
    const { folder } = this.#host;
    if (folder !== undefined) return join(folder, "batches");
    // The first runner makes it: where nothing can be written, nothing is made.
    return (this.#temporary ??= join(tmpdir(), `weir-batches-${crypto.randomUUID()}`));
  }
}
