/** What the admin API asks of the books. The keeper implements it over its store. Times are milliseconds since 1970. */
import type { ChargeState, PriceRule } from "../ledger/charge.ts";
import type { Nano } from "../ledger/money.ts";
import type { Budget, KeyEntry, Policy, RateLimit } from "../ledger/policy.ts";
import type { CallRecord, RefusalReason } from "../ledger/record.ts";
import type { AccountRow, Actor } from "../keeper/books/store.ts";

/** A window of a budget, with what workers hold and have left of it. */
export interface AccountFigures extends AccountRow {
  /** What running attempts hold. Part of `granted`. */
  held: Nano;
}

/** A rate limit at this moment: what may still be used at once. */
export interface RateFigures {
  account: string;
  left: number;
}

export const USAGE_GROUPS = ["key", "path", "tag", "model", "provider", "day", "hour"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Which calls a report is about. `within`: the path of the caller; calls of other paths are left out. */
export interface Filter {
  within: string;
  from?: number;
  to?: number;
  /** Id of a key. */
  key?: string;
  path?: string;
  tag?: string;
  model?: string;
  provider?: string;
}

/** Sums of calls. `assumed` and `estimated` are parts of `cost`; `unpriced` counts calls. */
export interface UsageSums {
  calls: number;
  failed: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  cost: Nano;
  estimated: Nano;
  assumed: Nano;
  unpriced: number;
}

export interface UsageReport {
  rows: readonly (UsageSums & { group: Readonly<Partial<Record<UsageGroup, string>>> })[];
  total: UsageSums;
  /** From when on the sums are complete, if that is after the time that was asked for: older ones are deleted. */
  completeFrom?: number;
}

export interface CallFilter extends Filter {
  limit: number;
  /** Cursor: `next` of the page before. */
  after?: string;
  failed?: boolean;
  /** Calls that took at least this long. Milliseconds. */
  slowerThan?: number;
  state?: ChargeState;
  refused?: RefusalReason;
}

export interface CallPage {
  calls: readonly CallRecord[];
  /** Cursor of the next page; absent at the end. */
  next?: string;
  /** The search ended because it had looked at as many rows as it may; `next` goes on from there. */
  bounded: boolean;
}

/** One verdict of the proof that the books agree with themselves. */
export interface AuditCheck {
  name: string;
  holds: boolean;
  /** One sentence with the figures. */
  detail: string;
}

export interface AuditReport {
  holds: boolean;
  checks: readonly AuditCheck[];
}

export interface AuditEntry {
  id: string;
  at: number;
  actor: string;
  address?: string;
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
}

export interface Invoice {
  provider: string;
  /** `2026-11`. */
  month: string;
  amount: Nano;
  note?: string;
}

/** An invoice against the books, and what the difference consists of. */
export interface Reconciliation {
  provider: string;
  month: string;
  invoiced: Nano;
  booked: Nano;
  difference: Nano;
  causes: readonly { name: string; amount: Nano; detail: string }[];
}

export interface WhatIf {
  calls: number;
  now: Nano;
  then: Nano;
  rows: readonly { from: string; to: string; calls: number; now: Nano; then?: Nano; why?: string }[];
}

export interface StoreInfo {
  kind: "sqlite" | "postgres" | "memory";
  /** The file, or the URL without its password. */
  place: string;
  bytes: number;
  calls: number;
  oldestCall?: number;
  /** Records that wait to be written. */
  waiting: number;
  /** One sentence while the store cannot be written. */
  fault?: string;
}

export interface BooksHealth {
  version: string;
  degraded: readonly string[];
}

/** What the admin API reads and writes. A method that the books cannot serve yet throws an AdminError 501. */
export interface AdminBooks {
  /** The state of this moment, config and store together. */
  policy(): Policy;
  /** Facts of stored keys that calls do not need, by id. */
  keyFacts(): Promise<
    ReadonlyMap<string, { hint?: string; createdAt?: number; createdBy?: string; lastUsedAt?: number }>
  >;
  saveKey(key: KeyEntry, actor: Actor): Promise<void>;
  saveBudget(budget: Budget, actor: Actor): Promise<void>;
  deleteBudget(id: string, actor: Actor): Promise<boolean>;
  saveRate(rate: RateLimit, actor: Actor): Promise<void>;
  deleteRate(id: string, actor: Actor): Promise<boolean>;

  accounts(): Promise<readonly AccountFigures[]>;
  rates(): Promise<readonly RateFigures[]>;
  usage(query: Filter & { by: readonly UsageGroup[] }): Promise<UsageReport>;
  calls(filter: CallFilter): Promise<CallPage>;
  call(id: string): Promise<CallRecord | undefined>;

  prices(query: { q?: string; limit: number; after?: string }): Promise<{
    prices: readonly PriceRule[];
    next?: string;
  }>;
  /** Targets that were used without a price. */
  missingPrices(): Promise<readonly { provider: string; model: string; calls: number }[]>;
  /** @param map other targets by target: `provider/model` */
  whatIf(query: Filter & { map: Readonly<Record<string, string>> }): Promise<WhatIf>;

  invoices(): Promise<readonly Invoice[]>;
  reconcile(invoice: Invoice, actor: Actor): Promise<Reconciliation>;
  audit(): Promise<AuditReport>;
  auditLog(query: { limit: number; after?: string }): Promise<{
    entries: readonly AuditEntry[];
    next?: string;
  }>;

  store(): Promise<StoreInfo>;
  /** Writes a copy of the store. @param path absolute @throws Error with one sentence */
  backup(path: string, actor: Actor): Promise<{ bytes: number }>;
  check(): Promise<AuditReport>;
  /** Deletes the rows of a key, or what is older than the retention. The sums stay. */
  prune(what: { key?: string }, actor: Actor): Promise<{ rows: number }>;
  /** Opens hard budgets again that a recovered store has closed. */
  release?(actor: Actor): Promise<void>;

  health(): BooksHealth;
  /** Prometheus text. */
  metrics(): string;
}
