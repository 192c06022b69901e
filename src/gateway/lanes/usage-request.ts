/** weir asks for the token counts of a stream, except at hosts that refuse the request member for it. */
import type { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { PassedRefusal } from "./passed-error.ts";

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
