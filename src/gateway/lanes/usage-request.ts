/** Which hosts are asked for the token counts of a stream: all but those that are declared, or seen, to refuse it. */
import type { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { PassedRefusal } from "./passed-error.ts";

/** Deployments that answered the question with an error. Forgotten at a reload, which makes new deployments. */
const refusing = new WeakSet<Deployment>();

/** Whether streams of a target are asked for token counts where the client did not ask. */
export function asksForUsage({ provider, deployment }: Target): boolean {
  return provider.traits?.streamOptions !== false && !refusing.has(deployment);
}

/**
 * Whether an error says that the host does not take the question. If so it is remembered for that deployment, and the
 * request is worth repeating without it.
 */
export function noteUsageRefusal(
  thrown: unknown,
  { usageRequest }: UpstreamCodec,
  { deployment }: Target,
): boolean {
  const error = thrown as Partial<GatewayError>;
  if (!usageRequest || error.kind !== "invalid-request") return false;
  const said = thrown instanceof PassedRefusal ? thrown.body : `${error.param} ${error.message}`;
  if (!said.includes(usageRequest.member)) return false;
  refusing.add(deployment);
  return true;
}
