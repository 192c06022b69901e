/** The request of a call of a kind, for `explain`. */
import { Attempt } from "../../core/call.ts";
import { planFor } from "../access.ts";
import type { PrepareContext, Prepared } from "../lanes/lane.ts";
import { type Plan, rank } from "../routing/plan.ts";
import { dialectOf, prepareKind } from "./prepare.ts";
import type { IncomingKind } from "./types.ts";

export interface ForeseenKind {
  plan: Plan;
  attempt: Attempt;
  /** Absent if a program answers. */
  prepared?: Prepared;
}

/** @throws GatewayError as the call would before it is sent */
export async function foreseeKind(incoming: IncomingKind, context: PrepareContext): Promise<ForeseenKind> {
  const { call, kind, request } = incoming;
  const plan = planFor(call, call.servingModel, context.registry, request.dialect, kind.id);
  const attempt = new Attempt(call, rank(plan.choices, () => "")[0]!.target);
  const dialect = dialectOf(incoming, attempt.target);
  return {
    plan,
    attempt,
    ...(dialect && { prepared: await prepareKind(incoming, attempt, dialect, context) }),
  };
}
