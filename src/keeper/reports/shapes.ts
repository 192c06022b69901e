/**
 * The shapes of reports: those of the operator's API, as the keeper computes them. Filters have ids and patterns where a request
 * has names. Amounts are nano-dollars, times milliseconds since 1970.
 */
import type { Outcome } from "../../core/call.ts";
import type { ChargeState } from "../../ledger/charge.ts";
import type { CallRecord, RefusalReason } from "../../ledger/record.ts";
import type { Assumptions, Invoices, Proof, Reconciliation as Reconciled } from "../../operator/books.ts";
import type { Calls, CallsSummary } from "../../operator/calls.ts";
import type { Frozen } from "../../operator/contract.ts";
import type { Sums, UsageReport as Usage } from "../../operator/reports.ts";

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

/** The calls of a report of usage. */
export interface UsageFilter extends Filter, Pick<CallFilter, "client" | "session" | "state"> {
  /** The time is not extended to whole hours. */
  exact?: boolean;
}

export type UsageSums = Sums;
export type UsageReport = Frozen<Usage>;
export type UsageRow = UsageReport["rows"][number];

/** On which side of a value a number is. */
export interface Bound {
  sign: ">" | ">=" | "<" | "<=";
  value: number;
}

/** Which calls a search is about. A call with several attempts has the targets and charges of all of them. */
export interface CallFilter extends Filter {
  /** Calls that did not end with a complete answer: failed or cancelled. */
  failed?: boolean;
  outcome?: Outcome;
  /** Statuses of the answer to the client, as spans of which one has it. */
  status?: readonly { low: number; high: number }[];
  /** All charges. Nano-dollars. */
  cost?: Bound;
  /** Milliseconds. */
  took?: Bound;
  /** All input and output of all attempts. */
  tokens?: Bound;
  /** The beginning of an id, or the provider's id. */
  id?: string;
  /** Calls that this finds are left out. */
  not?: readonly CallFilter[];
  /** Calls that took at least this long. Milliseconds. */
  slowerThan?: number;
  /** Calls with more than one attempt. */
  retried?: boolean;
  losses?: boolean;
  /** Calls that weir answered with an error before it asked a provider. */
  rejected?: boolean;
  /** `uncertain`: estimated or assumed; `certain`: neither of them, nor unpriced. */
  state?: ChargeState | "uncertain" | "certain";
  refused?: RefusalReason | "any";
  /** Patterns over the model as the client named it. */
  asked?: readonly string[];
  deployment?: string;
  format?: string;
  /** The beginning of the client's name. */
  client?: string;
  /** Hash of a session, 16 hexadecimal digits, or its id at the client. */
  session?: string;
  /** Calls of which an attempt failed so. */
  tried?: TriedFilter;
  /** Values of columns that the store has in `detail`. */
  columns?: Readonly<Record<string, unknown>>;
  /** An id, or part of a model as the client named it, or of a target. Calls of `keys` are found as well. */
  text?: { text: string; keys: readonly string[] };
}

/** The groups of an attempt. */
export type Fault = "429" | "5xx" | "broken" | "credential" | "request";
/** `failed`: all of them but `request`, of which the provider is innocent. */
export type Tried = Fault | "failed";

/** Which attempts a search wants. */
export interface TriedFilter {
  group: Tried;
  /** Those at this deployment. */
  at?: string;
}

export interface CallQuery extends CallFilter {
  limit: number;
  /** Cursor: `next` of the page before. */
  after?: string;
  /** The largest first; default: the newest. */
  sort?: CallOrder;
}

export type CallOrder = "cost" | "took" | "first" | "tokens";

/** A page of a search, of records: the API adds the names of keys. */
export interface CallPage extends Omit<Frozen<Calls>, "calls"> {
  /** The newest first. */
  calls: readonly CallRecord[];
}

/** The sums of a search, and their slices over time. */
export type CallSummary = Frozen<CallsSummary>;
export type CallSlice = CallsSummary["slices"][number];

/** Money that was held when a worker or node ended, and is booked as assumed. The API adds the name of the budget. */
export type Assumption = Omit<Frozen<Assumptions>["entries"][number], "budget">;

export type AuditReport = Frozen<Proof>;
/** One verdict of the proof that the books agree with themselves. */
export type AuditCheck = AuditReport["checks"][number];

export type Invoice = Frozen<Invoices>["invoices"][number];
/** An invoice against the books. The causes explain at most the difference; the last one is the rest. */
export type Reconciliation = Frozen<Reconciled>;

/** A proof of the books. Times are milliseconds since 1970. */
export interface TimedReport extends AuditReport {
  /** When the newest rows were proven. */
  readonly at: number;
  /** The last proof of all rows. */
  readonly full: { readonly at: number; readonly ms: number };
  /** Calls that were proven since then. */
  readonly calls: number;
}
