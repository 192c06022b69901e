/** What reports of the books contain. Amounts are nano-dollars, times milliseconds since 1970. */
import type { Outcome } from "../../core/call.ts";
import type { ChargeState } from "../../ledger/charge.ts";
import type { CacheGroup } from "../../operator/cache.ts";
import type { UsageGroup } from "../../operator/reports.ts";
import type { Nano } from "../../ledger/money.ts";
import type { BreakReason, CacheBreak, CallRecord, RefusalReason } from "../../ledger/record.ts";

/** Which calls a report is about. `within`: the path of the caller; calls of other paths are left out. */
export interface Filter {
  within?: string;
  from?: number;
  to?: number;
  /** Id of a key. */
  key?: string;
  path?: string;
  tag?: string;
  /** Patterns over the names of a model, of which one matches. */
  model?: readonly string[];
  provider?: string;
}

/** Sums of calls. `reported`, `estimated`, `assumed` and `untiered` are parts of `cost`; `unpriced` counts attempts. */
export interface UsageSums {
  calls: number;
  failed: number;
  refused: number;
  attempts: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h: number;
  output: number;
  reasoning: number;
  searches: number;
  cost: Nano;
  reported: Nano;
  estimated: Nano;
  assumed: Nano;
  untiered: Nano;
  unpriced: number;
  /** Milliseconds of all calls together: whole, and until the first token. */
  ms: number;
  firstMs: number;
}

export interface UsageRow extends UsageSums {
  /** Empty for calls without a key, and for the model and provider of calls that reached none. Days are `2026-11-22`, hours `2026-11-22T04`, UTC. */
  group: Readonly<Partial<Record<UsageGroup, string>>>;
}

export interface UsageReport {
  /** A call with several tags is in the row of each. */
  rows: readonly UsageRow[];
  total: UsageSums;
  /** The sums begin at this time: the beginning of an hour or day. Absent: at the first call. */
  from?: number;
  to?: number;
  /** Older sums by hour are deleted. */
  completeFrom?: number;
}

/** Which calls a search is about. A call with several attempts has the targets and charges of all of them. */
export interface CallFilter extends Filter {
  /** Calls that did not end with a complete answer: failed or cancelled. */
  failed?: boolean;
  outcome?: Outcome;
  status?: number;
  /** Calls that took at least this long. Milliseconds. */
  slowerThan?: number;
  /** Calls with more than one attempt. */
  retried?: boolean;
  losses?: boolean;
  /** `uncertain`: estimated or assumed. */
  state?: ChargeState | "uncertain";
  refused?: RefusalReason | "any";
  /** Patterns over the model as the client named it. */
  asked?: readonly string[];
  deployment?: string;
  format?: string;
  /** The beginning of the client's name. */
  client?: string;
  /** Hash of a session, 16 hexadecimal digits. */
  session?: string;
  /** An id, or part of a model as the client named it, or of a target. Calls of `keys` are found as well. */
  text?: { text: string; keys: readonly string[] };
}

export interface CallQuery extends CallFilter {
  limit: number;
  /** Cursor: `next` of the page before. */
  after?: string;
}

export interface CallPage {
  /** The newest first. */
  calls: readonly CallRecord[];
  next?: string;
  /** The search ended because it had looked at as many rows as it may; `next` goes on from there. */
  bounded: boolean;
  /** Where `bounded`: all calls that began at this time or later were looked at. */
  searchedTo?: number;
}

/** Sums of calls. `uncertain` is the part of `cost` that is estimated or assumed. */
export interface CallSums {
  calls: number;
  failed: number;
  /** Those of `failed` that weir answered before it asked a provider. In sums by hour: those that a rule refused. */
  rejected: number;
  cost: Nano;
  uncertain: Nano;
}

export interface CallSlice extends CallSums {
  /** Its beginning. */
  at: number;
}

/** Sums of all calls that a search finds. */
export interface CallSummary extends CallSums {
  /** Calls with a charge that is estimated or assumed, and calls with several attempts. Absent where the sums are those of hours. */
  uncertainCalls?: number;
  retried?: number;
  /** Calls with tokens and without a price. */
  unpriced: number;
  /** The slices begin here. Absent: there is no call. */
  from?: number;
  to: number;
  sliceMs: number;
  /** Those with calls, the oldest first. */
  slices: readonly CallSlice[];
  /** The search ended here: earlier calls are in no sum. */
  completeFrom?: number;
}

/** Money that was held when a worker or node ended, and is booked as assumed. */
export interface Assumption {
  at: number;
  account: string;
  amount: Nano;
  why: string;
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

export interface Invoice {
  provider: string;
  /** `2026-11`. */
  month: string;
  amount: Nano;
  note?: string;
}

/** An invoice against the books. The causes explain at most the difference; the last one is the rest. */
export interface Reconciliation {
  provider: string;
  month: string;
  invoiced: Nano;
  booked: Nano;
  difference: Nano;
  causes: readonly { name: string; amount: Nano; detail: string }[];
}

/** What the caches of providers did. Tokens and nano-dollars. */
export interface CacheSums {
  /** Calls whose provider reports a cache. */
  calls: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** What caching saved, less what writing cost. */
  saved: Nano;
  /** Calls that read less than was in the cache, the tokens that they did not read, and what these cost more. */
  breaks: number;
  lost: number;
  lostCost: Nano;
}

/** The reason that cost most. */
export interface Commonest {
  reason: BreakReason;
  /** `system[1]`, and `tools` or `messages` without an index. */
  section?: string;
  breaks: number;
  cost: Nano;
}

export interface CacheRow extends CacheSums {
  group: Readonly<Partial<Record<CacheGroup, string>>>;
  commonest?: Commonest;
}

export interface CacheReport {
  rows: readonly CacheRow[];
  total: CacheSums;
  /** Whole days. */
  from?: number;
  to?: number;
  /** Reasons are known from then on. Absent: of all calls. */
  reasonsFrom?: number;
}

interface SessionOf {
  /** Its hash. */
  session: string;
  /** Id of its key. */
  key?: string;
  path: string;
}

export interface LosingSession extends SessionOf {
  client?: string;
  lastAt: number;
  breaks: number;
  lost: number;
  lostCost: Nano;
  commonest?: Commonest;
}

export interface LosingSessions {
  sessions: readonly LosingSession[];
  /** Calls are counted from then on. Absent: all of them. */
  reasonsFrom?: number;
}

export interface CacheSession extends SessionOf {
  firstAt: number;
  lastAt: number;
  /** All calls of the session, also those that are not in `calls`. */
  count: number;
  /** The oldest first. */
  calls: readonly {
    id: string;
    startedAt: number;
    ms: number;
    model: string;
    provider: string;
    deployment: string;
    status: number;
    input: number;
    cacheRead: number;
    cacheWrite: number;
    cost: Nano;
    break?: CacheBreak;
  }[];
}
