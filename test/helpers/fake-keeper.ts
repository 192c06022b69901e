/** A keeper in memory for tests of the worker's ledger: it grants from fixed amounts and stores batches at once. */
import type { BooksChannel, BooksEvents } from "../../src/ledger/channel.ts";
import type { BooksDown, BooksUp, Refusal } from "../../src/ledger/messages.ts";
import { type PackedBatch, unpack } from "../../src/ledger/packed.ts";
import type { RecordBatch } from "../../src/ledger/record.ts";

export class FakeKeeper implements BooksChannel {
  isUp = false;
  /** Everything the worker has sent, in order. */
  readonly sent: BooksUp[] = [];
  /** What each account has free; accounts that are not here are unlimited. */
  readonly free = new Map<string, number>();
  readonly limits = new Map<string, number>();
  /** The most that one ask is granted beyond its need. */
  slice = 0;
  /** The keeper does not answer asks. */
  silent = false;
  /** The keeper does not confirm batches. */
  storesNothing = false;
  resetsAt: number | undefined = Date.UTC(2099, 11, 1);
  #events: BooksEvents | undefined;

  listen(events: BooksEvents): void {
    this.#events = events;
    if (this.isUp) events.up();
  }

  connect(): void {
    this.isUp = true;
    this.#events?.up();
  }

  disconnect(): void {
    this.isUp = false;
    this.#events?.down();
  }

  tell(message: BooksDown): void {
    this.#events?.message(message);
  }

  limit(account: string, amount: number): void {
    this.limits.set(account, amount);
    this.free.set(account, amount);
  }

  send(message: BooksUp): void {
    if (!this.isUp) return;
    this.sent.push(message);
    queueMicrotask(() => this.#answer(message));
  }

  sendBatch(batch: PackedBatch): void {
    this.send({ kind: "records", batch: unpack(batch) });
  }

  #answer(message: BooksUp): void {
    if (message.kind === "records" && !this.storesNothing)
      this.tell({ kind: "stored", seq: message.batch.seq });
    if (message.kind === "return") {
      const free = this.free.get(message.account);
      if (free !== undefined) this.free.set(message.account, free + message.amount);
    }
    if (message.kind === "ask" && !this.silent) this.#decide(message);
  }

  #decide({ number, needs }: Extract<BooksUp, { kind: "ask" }>): void {
    const refusals: Refusal[] = [];
    for (const { account, need } of needs) {
      const left = this.free.get(account) ?? Infinity;
      if (left < need)
        refusals.push({ account, limit: this.limits.get(account)!, left, resetsAt: this.resetsAt });
    }
    if (refusals.length > 0) return this.tell({ kind: "refusal", number, refusals });
    const grants = needs.map(({ account, need }) => {
      const left = this.free.get(account);
      const amount = left === undefined ? need : Math.min(left, need + this.slice);
      if (left !== undefined) this.free.set(account, left - amount);
      return { account, amount };
    });
    this.tell({ kind: "grant", number, grants });
  }

  get batches(): RecordBatch[] {
    return this.sent.flatMap((message) => (message.kind === "records" ? [message.batch] : []));
  }

  /** What has been spent of an account, in all batches. Each batch counts once. */
  spent(account: string): number {
    const bySeq = new Map(this.batches.map((batch) => [batch.seq, batch]));
    const spends = [...bySeq.values()]
      .flatMap(({ spends }) => spends)
      .filter((spend) => spend.account === account);
    return spends.reduce((sum, spend) => sum + spend.spent + spend.assumed, 0);
  }
}
