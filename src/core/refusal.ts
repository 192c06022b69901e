/** The refusal of an attempt by a rule of the gateway: a budget, a limit, a scope, an unknown price. */
import type { CapPeriod } from "./standing.ts";
import { Slot } from "./slot.ts";
import { type ErrorFacts, type ErrorKind, GatewayError } from "./error.ts";

/** The code of a refusal by a budget, and of an answer that a budget has ended. */
export const BUDGET_EXHAUSTED = "budget_exhausted";

/** The code of the same refusal for a person who signed in with a program, which shows its sentence. */
export const SPEND_LIMIT_REACHED = "spend_limit_reached";

/** The budget that refused a call. */
export interface RefusedBudget {
  readonly period: CapPeriod;
  /** Milliseconds since 1970; absent for one that does not reset. */
  readonly resetsAt?: number;
  /** The path whose calls it counts; absent for a budget on something else. */
  readonly path?: string;
}

/** Which rule of the gateway refused a call. */
export type RefusalReason = "rate" | "tokens" | "concurrency" | "budget" | "scope" | "price";

/** The budget or rate limit that refused a call. Amounts are nano-dollars, or of the unit of the rate limit. */
export interface RefusedBy {
  kind: "budget" | "rate";
  id: string;
  name: string;
  /** Of a rate limit: `rpm`, `concurrency`. */
  unit?: string;
  /** Absent, as all amounts, for readers who may not see the rule. */
  limit?: number;
  /** What the call needed at most. */
  needed?: number;
  left?: number;
  /** When it has room again, milliseconds since 1970; absent where no time is known. */
  until?: number;
}

/** What refused a call, as the ledger notes it. It counts only for calls that end refused. */
export const REFUSED_BY = new Slot<RefusedBy>();

export interface RefusalFacts extends ErrorFacts {
  reason: RefusalReason;
  /** Another target of the plan may be permitted. */
  perTarget: boolean;
  /** The model that may answer in place of the one that was asked for. */
  use?: string;
  /** For the reason `budget`. */
  budget?: RefusedBudget;
  by?: RefusedBy;
}

/** A rule of the gateway does not permit an attempt. Nothing was sent, and it says nothing about the deployment. */
export class LedgerRefusal extends GatewayError {
  readonly reason: RefusalReason;
  readonly perTarget: boolean;
  readonly use?: string;
  readonly budget?: RefusedBudget;
  readonly by?: RefusedBy;

  constructor(kind: ErrorKind, message: string, facts: RefusalFacts) {
    super(kind, message, facts);
    this.reason = facts.reason;
    this.perTarget = facts.perTarget;
    this.use = facts.use;
    this.budget = facts.budget;
    this.by = facts.by;
  }
}
