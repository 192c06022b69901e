/** The refusal of an attempt by a rule of the gateway: a budget, a limit, a scope, an unknown price. */
import { type ErrorFacts, type ErrorKind, GatewayError } from "./error.ts";

/** The code of a refusal by a budget, and of an answer that a budget has ended. */
export const BUDGET_EXHAUSTED = "budget_exhausted";

/** Which rule of the gateway refused a call. */
export type RefusalReason = "rate" | "tokens" | "concurrency" | "budget" | "scope" | "price";

export interface RefusalFacts extends ErrorFacts {
  reason: RefusalReason;
  /** Another target of the plan may be permitted. */
  perTarget: boolean;
  /** The model that may answer in place of the one that was asked for. */
  use?: string;
}

/** A rule of the gateway does not permit an attempt. Nothing was sent, and it says nothing about the deployment. */
export class LedgerRefusal extends GatewayError {
  readonly reason: RefusalReason;
  readonly perTarget: boolean;
  readonly use?: string;

  constructor(kind: ErrorKind, message: string, facts: RefusalFacts) {
    super(kind, message, facts);
    this.reason = facts.reason;
    this.perTarget = facts.perTarget;
    this.use = facts.use;
  }
}
