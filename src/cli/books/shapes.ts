/** The answers of the admin API that the commands read. */
import type { Nano } from "../../ledger/money.ts";
import type { Budget, KeyKind, RateLimit, Scopes } from "../../ledger/policy.ts";

/** An entry as a change answers it. */
export interface Changed {
  /** Patterns of the sets that it names, by the text that names them (`@cheap`); `null`: there is no such set. */
  sets?: Readonly<Record<string, readonly string[] | null>>;
  /** What may be mistyped. */
  warnings?: readonly string[];
}

export interface KeyView extends Changed {
  id: string;
  name: string;
  kind: KeyKind;
  path: string;
  tags: readonly string[];
  scopes: Scopes;
  state: "active" | "expired" | "revoked";
  source: "config" | "store";
  hint?: string;
  createdAt?: number;
  createdBy?: string;
  lastUsedAt?: number;
  expiresAt?: number;
  revokedAt?: number;
  rotatingUntil?: number;
  /** Asked for with `limits`. */
  limits?: KeyLimits;
}

/** What counts all calls of a key, and what it has spent since a time. */
export interface KeyLimits {
  spent: Nano;
  since: number;
  budgets: readonly (Pick<Budget, "name" | "on" | "window" | "limit" | "mode"> & {
    spent: Nano;
    left: Nano;
    resetsAt?: number;
  })[];
  rates: readonly (Pick<RateLimit, "name" | "on" | "limits"> & { left: Readonly<Record<string, number>> })[];
}

export interface CreatedKey {
  key: KeyView;
  /** The key itself. */
  secret: string;
  /** Every call needs a key from now on. */
  closed: boolean;
  /** The budget that was created with it. */
  budget?: Pick<Budget, "name" | "limit" | "window" | "mode">;
}

export interface BudgetView extends Budget, Changed {
  windows: readonly {
    startsAt: number;
    endsAt?: number;
    spent: Nano;
    assumed: Nano;
    held: Nano;
    /** What workers and nodes have been granted and have not spent. */
    granted: Nano;
    overrun: Nano;
    left: Nano;
    forecast?: Nano;
  }[];
}

export interface RateView extends RateLimit, Changed {
  left: Readonly<Record<string, number>>;
}

/** Sums of calls. `estimated` and `assumed` are parts of `cost`; `unpriced` counts calls. */
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
  rows: readonly (UsageSums & { group: Readonly<Record<string, string>>; keyName?: string })[];
  total: UsageSums;
  completeFrom?: number;
}

export interface AuditReport {
  holds: boolean;
  checks: readonly { name: string; holds: boolean; detail: string }[];
}

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

/** What was deleted, or would be. */
export interface Pruned {
  rows: number;
  tables: Readonly<Record<string, { rows: number; bytes?: number }>>;
}

export interface StoreInfo {
  kind: "sqlite" | "postgres" | "memory";
  place: string;
  bytes: number;
  calls: number;
  oldestCall?: number;
  /** Checks of the audit that runs. */
  auditing?: { done: number; of: number };
  waiting: number;
  fault?: string;
}
