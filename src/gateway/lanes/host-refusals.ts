/** Refusals of a host that weir answers with another request, without what was refused: the usage of a stream, or a feature. */
import type { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { PassedRefusal } from "./passed-error.ts";
import type { Attempt } from "../../core/call.ts";

/** Deployments that refused the member. A reload creates new deployments, so weir asks again after it. */
const refusing = new WeakSet<Deployment>();

/** Whether weir asks a target for token counts if the client did not. */
export function asksForUsage({ provider, deployment, traits = provider.traits }: Target): boolean {
  return traits?.streamOptions !== false && !refusing.has(deployment);
}

/**
 * Whether an error says that the host refuses the member. If so, weir records it for the deployment, and should repeat the
 * request without the member.
 */
export function noteUsageRefusal(
  thrown: unknown,
  { native: { usageRequest } }: UpstreamCodec,
  { deployment }: Target,
): boolean {
  const error = thrown as Partial<GatewayError>;
  if (!usageRequest || error.kind !== "invalid-request") return false;
  const text = thrown instanceof PassedRefusal ? thrown.body : `${error.param} ${error.message}`;
  if (!text.includes(usageRequest.member)) return false;
  refusing.add(deployment);
  return true;
}

/** Records the refusal on the attempt, for `call.refused`. @returns whether the next request leaves the part out; true once */
export function leavesOutFeature({ refused }: GatewayError, attempt: Attempt): boolean {
  const { provider, format } = attempt.target;
  if (refused === undefined || attempt.refused.includes(refused)) return false;
  if (!provider.envelope?.[format]?.leavesOut?.includes(refused)) return false;
  attempt.refused = [...attempt.refused, refused];
  return true;
}
