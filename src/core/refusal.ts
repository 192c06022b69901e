/** The refusal of an attempt by a rule of the gateway: a budget, a limit, a scope, an unknown price. */
import type { CapPeriod } from "./standing.ts";
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

export interface RefusalFacts extends ErrorFacts {
  reason: RefusalReason;
  /** Another target of the plan may be permitted. */
  perTarget: boolean;
  /** The model that may answer in place of the one that was asked for. */
  use?: string;
  /** For the reason `budget`. */
  budget?: RefusedBudget;
}

/** A rule of the gateway does not permit an attempt. Nothing was sent, and it says nothing about the deployment. */
export class LedgerRefusal extends GatewayError {
  readonly reason: RefusalReason;
  readonly perTarget: boolean;
  readonly use?: string;
  readonly budget?: RefusedBudget;

  constructor(kind: ErrorKind, message: string, facts: RefusalFacts) {
    super(kind, message, facts);
    this.reason = facts.reason;
    this.perTarget = facts.perTarget;
    this.use = facts.use;
    this.budget = facts.budget;
  }
}
