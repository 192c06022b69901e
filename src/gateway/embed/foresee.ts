/** The first request of a call for embeddings, for `explain`. */
import { Attempt } from "../../core/call.ts";
import { planFor } from "../access.ts";
import type { PrepareContext, Prepared } from "../lanes/lane.ts";
import type { Plan } from "../routing/plan.ts";
import { rank } from "../routing/plan.ts";
import { prepareNatively } from "./native.ts";
import { preparePart } from "./parts.ts";
import type { IncomingEmbed } from "./types.ts";
import { Vectors } from "./vectors.ts";
import { wayOf } from "./way.ts";

export interface ForeseenEmbed {
  plan: Plan;
  attempt: Attempt;
  /** The first request; absent if a program embeds. */
  prepared?: Prepared;
  /** Number of requests that weir would send. */
  requests: number;
}

/** @throws GatewayError as the call would before it is sent */
export function foreseeEmbed(incoming: IncomingEmbed, context: PrepareContext): ForeseenEmbed {
  const { call, request } = incoming;
  const plan = planFor(call, call.servingModel, context.registry, call.format, "embed");
  const attempt = new Attempt(call, rank(plan.choices, () => "")[0]!.target);
  const way = wayOf(incoming, attempt, context.registry);
  if (!way) return { plan, attempt, requests: 0 };
  if (way.isNative)
    return { plan, attempt, prepared: prepareNatively(incoming, attempt, way, context), requests: 1 };
  const parts = new Vectors(request).missing(way.size);
  return {
    plan,
    attempt,
    prepared: preparePart(request, parts[0]!, attempt, way, context),
    requests: parts.length,
  };
}
