/** Observers of the books: metrics and parts of features. */
import type { Counted } from "../../core/metric.ts";
import type { Warning } from "../../core/warning.ts";
import type { BookSettings, WorkerState } from "../../ledger/messages.ts";
import type { RecordBatch } from "../../ledger/record.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { Commit, LostRows } from "../store/store.ts";

export interface BooksObserver {
  /** The config of the workers, after each start and reload. */
  settings(settings: BookSettings): void;
  /** The store is open, or keys, budgets, limits, or rows of features in it may have changed. */
  refreshed(): void | Promise<void>;
  records(batch: RecordBatch, worker: number): void;
  /** A worker has connected; a life may connect again. */
  worker(worker: number, life: string): void;
  /** @param ms duration of a commit @param fault why it failed; it is repeated */
  commit(ms: number, fault: unknown): void;
  /** The store will never have the records of calls in this commit. */
  refused(commit: Commit): void;
  /** A commit is in the store without rows of a feature. */
  lost(rows: LostRows): void;
  /** A budget has reached a percentage of its limit: once for each window. */
  alert(budget: string, percent: number, account: BudgetAccount): void;
  /** The state of a worker; about once a second. */
  state(worker: number, state: WorkerState): void;
  /** Metrics of features and plugins that a worker has counted. */
  counted(counted: readonly Counted[]): void;
  /** @param fault one sentence while the store cannot be used; absent: it can be used again */
  store(fault: string | undefined): void;
  /** Something begins or ends of which the operator should know. It may be repeated. */
  warned(warning: Warning): void;
}

export class Observers implements BooksObserver {
  readonly #observers: Partial<BooksObserver>[] = [];

  add(observer: Partial<BooksObserver>): void {
    this.#observers.push(observer);
  }

  settings(settings: BookSettings): void {
    for (const observer of this.#observers) observer.settings?.(settings);
  }

  /** Resolves when all observers have told the workers what they found. */
  async refreshed(): Promise<void> {
    await Promise.all(this.#observers.map((observer) => observer.refreshed?.()));
  }

  records(batch: RecordBatch, worker: number): void {
    for (const observer of this.#observers) observer.records?.(batch, worker);
  }

  worker(worker: number, life: string): void {
    for (const observer of this.#observers) observer.worker?.(worker, life);
  }

  commit(ms: number, fault: unknown): void {
    for (const observer of this.#observers) observer.commit?.(ms, fault);
  }

  refused(commit: Commit): void {
    for (const observer of this.#observers) observer.refused?.(commit);
  }

  lost(rows: LostRows): void {
    for (const observer of this.#observers) observer.lost?.(rows);
  }

  alert(budget: string, percent: number, account: BudgetAccount): void {
    for (const observer of this.#observers) observer.alert?.(budget, percent, account);
  }

  state(worker: number, state: WorkerState): void {
    for (const observer of this.#observers) observer.state?.(worker, state);
  }

  counted(counted: readonly Counted[]): void {
    for (const observer of this.#observers) observer.counted?.(counted);
  }

  store(fault: string | undefined): void {
    for (const observer of this.#observers) observer.store?.(fault);
  }

  warned(warning: Warning): void {
    for (const observer of this.#observers) observer.warned?.(warning);
  }
}
