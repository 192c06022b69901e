/** The reads and writes of the admin API on the books. The keeper implements it over its store. Times are milliseconds since 1970. */
import type { Noted } from "../core/slot.ts";
import type { PriceRule } from "../ledger/charge.ts";
import type { GatewayAddress, Question, WorkerState } from "../ledger/messages.ts";
import type { Nano } from "../ledger/money.ts";
import type { Budget, KeyEntry, Policy, RateLimit, StoredModel } from "../ledger/policy.ts";
import type { WhatIfSums } from "../ledger/prices/whatif.ts";
import type { AnswerTo } from "../operator/worker-answers.ts";
import type { UsageGroup } from "../operator/reports.ts";
import type { CallRecord } from "../ledger/record.ts";
import type { Pulse } from "../keeper/reports/pulse.ts";
import type { Pruned, PruneRequest } from "../keeper/record/due.ts";
import type { RunningCalls } from "../keeper/books/questions.ts";
import type { DeploymentQuery, DeploymentReport } from "../keeper/reports/deployments.ts";
import type { UsedNames } from "../keeper/reports/names.ts";
import type { AuditEntry, KeyFacts, Page, Report } from "../keeper/reports/reports.ts";
import type {
  Assumption,
  AuditReport,
  CallFilter,
  CallPage,
  CallQuery,
  CallSummary,
  Filter,
  Invoice,
  Reconciliation,
  TimedReport,
  UsageReport,
  UsageFilter,
} from "../keeper/reports/shapes.ts";
import type { Sql } from "../keeper/store/sql.ts";
import type { AccountRow, Actor } from "../keeper/store/store.ts";

/** A window of a budget, with what workers hold and have left of it. */
export interface AccountFigures extends AccountRow {
  /** Amount that running attempts hold. Part of `granted`. */
  held: Nano;
}

/** A rate limit at this moment: what may still be used at once. */
export interface RateFigures {
  account: string;
  left: number;
}

export interface StoreInfo {
  kind: "sqlite" | "postgres" | "memory";
  /** The file, or the URL without its password. */
  place: string;
  bytes: number;
  calls: number;
  oldestCall?: number;
  /** How long rows are kept, in days, and the most bytes of the rows of calls. */
  keep?: { calls: number; hours: number; sessions: number; callBytes: number };
  /** The newest copy. */
  lastBackup?: { at: number; place: string; bytes: number };
  /** Checks of the audit that runs: those that are done, of how many. */
  auditing?: { done: number; of: number };
  /** Records that wait to be written. */
  waiting: number;
  /** One sentence while the store cannot be written. */
  fault?: string;
}

export interface BooksHealth {
  version: string;
  degraded: readonly string[];
}

/** How the books are. */
export interface BooksCondition {
  /** Batches of records that are not in the store. */
  waiting: number;
  /** One sentence while the store cannot be written. */
  fault?: string;
  /** Why hard budgets are closed, in one sentence. */
  closed?: string;
  /** The last proof since the start. */
  proof?: { at: number; ms: number; holds: boolean };
  /** Age of the shipped price book. */
  priceAgeDays: number;
}

/** Questions of the admin API to the gateway's workers, and figures of their calls. */
export interface GatewayAccess {
  /** Where the gateway listens for calls, as far as the workers have reported it. */
  readonly address: GatewayAddress | undefined;
  /** The same; it waits a moment for workers that have just started. */
  reach(): Promise<GatewayAddress | undefined>;
  /** Figures of the calls of the last hour, from the records as they arrived. */
  readonly pulse: Pulse;
  /** Calls as their records arrive. @returns function that ends it */
  watch(receive: (calls: readonly CallRecord[]) => void): () => void;
  /** The calls that run. */
  running(): Promise<RunningCalls>;
  /** As the workers said last; they go on telling it for some seconds. */
  runningNow(): RunningCalls;
  /** The workers that are connected, with what they have said last. */
  readonly workers: readonly { worker: number; state: WorkerState | undefined }[];
  /** Asks a worker. @throws AdminError 503 with its sentence */
  ask<Asked extends Question>(question: Asked): Promise<AnswerTo<Asked>>;
  /** Asks all workers. @throws AdminError 503 with the sentence of one */
  askAll<Asked extends Question>(question: Asked): Promise<readonly AnswerTo<Asked>[]>;
}

/** Models that were added at run time. */
export interface ModelBooks {
  /** @throws AdminError 404 or 409 if it is not there, or is there although it is new */
  save(model: StoredModel, isNew: boolean, actor: Actor): Promise<void>;
  /** @returns whether it was there */
  delete(id: string, actor: Actor): Promise<boolean>;
}

/** All that the admin API reads and writes. */
export interface AdminBooks {
  readonly models: ModelBooks;
  /** What parts of features in the keeper give to the operations of their features, by slots. */
  readonly offers: Noted;
  readonly gateway: GatewayAccess;
  /** Resolves when the store was opened, or could not be for the first time. */
  opened(): Promise<void>;
  /** Logs a fault of weir. */
  report(message: string, cause: unknown): void;
  /** The state of this moment, config and store together. */
  policy(): Policy;
  /** Keys for calls may be created here; otherwise only the config contains them. */
  readonly storesCallKeys: boolean;
  /** Facts of stored keys that calls do not need, by id. */
  keyFacts(): Promise<ReadonlyMap<string, Partial<KeyFacts> & { hint?: string }>>;
  saveKey(key: KeyEntry, actor: Actor): Promise<void>;
  saveBudget(budget: Budget, actor: Actor): Promise<void>;
  deleteBudget(id: string, actor: Actor): Promise<boolean>;
  saveRate(rate: RateLimit, actor: Actor): Promise<void>;
  deleteRate(id: string, actor: Actor): Promise<boolean>;

  accounts(): Promise<readonly AccountFigures[]>;
  rates(): Promise<readonly RateFigures[]>;
  usage(query: UsageFilter & { by: readonly UsageGroup[] }): Promise<UsageReport>;
  calls(filter: CallQuery): Promise<CallPage>;
  /** @param filter with the most slices of the answer */
  summary(filter: CallFilter & { slices: number }): Promise<CallSummary>;
  call(id: string): Promise<CallRecord | undefined>;
  /** The rules of charges by their reference, as far as the store has them. */
  rules(refs: readonly string[]): Promise<ReadonlyMap<string, PriceRule>>;
  /** How deployments served the newest calls of a time. */
  deployments(query: DeploymentQuery): Promise<DeploymentReport>;
  /** Names that calls on a path and below it have used. */
  names(within: string): Promise<UsedNames>;

  /** Runs a report of a feature. @throws AdminError 503 if the store fails */
  read<Value>(report: Report<Value>): Promise<Value>;
  /** Changes rows that no worker holds, in one transaction, which PostgreSQL may repeat. @throws AdminError 503 if the store fails */
  write<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value>;

  /** @param query.of `provider/model`: the prices of these alone */
  prices(query: Page & { q?: string; of?: readonly string[] }): Promise<{
    prices: readonly PriceRule[];
    next?: string;
  }>;
  /** Targets that were used without a price. */
  missingPrices(): Promise<readonly { provider: string; model: string; calls: number }[]>;
  /** @param map other targets by target: `provider/model` */
  whatIf(query: Filter & { map: Readonly<Record<string, string>> }): Promise<WhatIfSums>;

  /** Amounts that were held when workers and nodes ended, and are booked as assumed. The newest first. */
  assumptions(query: Page): Promise<{ entries: readonly Assumption[]; next?: string }>;
  invoices(): Promise<readonly Invoice[]>;
  reconcile(invoice: Invoice, actor: Actor): Promise<Reconciliation>;
  /** @param maxAgeMs as {@link Proofs.get} */
  audit(maxAgeMs?: number): Promise<AuditReport & Partial<TimedReport>>;
  auditLog(query: Page): Promise<{
    entries: readonly AuditEntry[];
    next?: string;
  }>;

  /** Adds an entry to the audit log. */
  note(actor: Actor, action: string, subject: string, facts?: unknown): Promise<void>;

  store(): Promise<StoreInfo>;
  /** Writes a copy of the store. @param path absolute @throws Error with one sentence */
  backup(path: string, actor: Actor): Promise<{ bytes: number }>;
  check(): Promise<AuditReport>;
  /** Deletes the rows of a key, or what is older than the retention, or counts them. The sums stay. */
  prune(what: PruneRequest, actor: Actor): Promise<Pruned>;

  /** Opens keys and hard budgets again that are closed since the books were recovered. */
  release(actor: Actor): Promise<void>;
  /** Calls need no key any more, until one is saved. The caller has made sure that none is valid. */
  openKeys(actor: Actor): Promise<void>;

  health(): BooksHealth;
  condition(): BooksCondition;
  /** Prometheus text. */
  metrics(): string;
}
