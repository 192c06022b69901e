/**
 * Books a try whose process has ended, and that the provider may have answered: a call that has what the try had, and reaches no
 * provider. The ledger assumes what it cost, as for any call without an answer.
 */
import type { Attempt } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Target } from "../../../core/provider.ts";
import type { Carrier, Plan, Prepared, UpstreamResponse } from "../../../gateway/lanes/carrier.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { mayPass, waitBehind } from "./answers.ts";
import { askLine, type LineAnswer, type LineCall } from "./line-call.ts";
import { sleep } from "./sleep.ts";

/** How often a keeper that is away is asked once more. */
const RETRIES = 4;

class LostCarrier implements Carrier {
  /** The ledger has admitted it. */
  hasCarried = false;

  takes({ choices }: Plan): Target | undefined {
    return choices[0]?.target;
  }

  async carry(_: Prepared, attempt: Attempt): Promise<UpstreamResponse> {
    this.hasCarried = true;
    attempt.wasSent = true;
    throw new GatewayError(
      "upstream",
      "The gateway ended while this line was running. The provider may have answered it.",
      { code: "upstream_lost" },
    );
  }
}

/**
 * @param left ends the waits for a keeper that is away
 * @returns the charge; of a call that a rule of the gateway refuses, nothing: then the try had been refused as well
 */
export async function bookLost(
  host: Pick<WorkerHost, "call">,
  call: Omit<LineCall, "carrier" | "before" | "signal">,
  left: AbortSignal,
): Promise<LineAnswer> {
  const line = { ...call.line, lost: true } as const;
  for (let tries = 0; ; tries++) {
    const carrier = new LostCarrier();
    // Nothing ends it: its record is the only one.
    const { signal } = new AbortController();
    const answer = await askLine(host, { ...call, line, carrier, signal, before: "lost" });
    const isDone = carrier.hasCarried || !mayPass(answer) || tries >= RETRIES;
    if (isDone || left.aborted) return answer;
    await sleep(waitBehind(answer, tries), left);
  }
}
