/** Repeats a request without what its host refused, where the plugin of the provider knows how to leave it out. */
import type { Attempt } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";

/** Records the refusal on the attempt, for `call.refused`. @returns whether the next request leaves the part out; true once */
export function leavesOutFeature({ refused }: GatewayError, attempt: Attempt): boolean {
  const { provider, format } = attempt.target;
  if (refused === undefined || attempt.refused.includes(refused)) return false;
  if (!provider.envelope?.[format]?.leavesOut?.includes(refused)) return false;
  attempt.refused = [...attempt.refused, refused];
  return true;
}
