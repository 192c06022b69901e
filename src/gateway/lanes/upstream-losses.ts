/** The losses that a provider reports, which is a weir itself: they are losses of this call as well. */
import type { Attempt } from "../../core/call.ts";
import { readLosses, WARNINGS } from "../../core/loss-list.ts";
import type { Gateway } from "../types.ts";
import { discard } from "./read-answer.ts";
import { refuseLosses } from "./strict.ts";
import type { UpstreamResponse } from "./transport.ts";

/** Returns nothing where nothing is reported, which costs no turn. @throws GatewayError in strict mode, as for losses of this weir */
export function adoptReported(
  response: UpstreamResponse,
  attempt: Attempt,
  gateway: Pick<Gateway, "strict">,
): Promise<void> | undefined {
  const reported = response.headers.get(WARNINGS);
  return reported ? adoptLosses(response, reported, attempt, gateway) : undefined;
}

async function adoptLosses(
  response: UpstreamResponse,
  reported: string,
  attempt: Attempt,
  gateway: Pick<Gateway, "strict">,
): Promise<void> {
  for (const { code, path } of readLosses(reported))
    attempt.reportLoss(code, path, `reported by ${attempt.target.provider.name}`);
  try {
    refuseLosses(attempt, gateway);
  } catch (error) {
    await discard(response);
    throw error;
  }
}
