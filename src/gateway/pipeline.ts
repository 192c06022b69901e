/**
 * One call, from the client's request to the beginning of its answer: `prepare`, `send`, `open`. The route then delivers what
 * was opened (`delivery/deliver.ts`).
 */
import type { Attempt } from "../core/call.ts";
import { holdHead } from "./delivery/held-stream.ts";
import type { Deadline } from "./delivery/deadline.ts";
import { chooseLane } from "./lanes/choose-lane.ts";
import type { Opened } from "./lanes/lane.ts";
import { isMissingPath } from "./lanes/missing-path.ts";
import { send } from "./lanes/send.ts";
import { attempt } from "./retry/attempts.ts";
import { inNextFormat } from "./routing/spoken-formats.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * Tries one target after another until one begins to answer.
 * @throws GatewayError for a failure before the first byte of the answer
 */
export function exchange(incoming: Incoming, gateway: Gateway, deadline: Deadline): Promise<Opened> {
  const opening = attempt(incoming, gateway, open);
  return incoming.call.stream ? holdHead(opening, incoming, deadline) : opening;
}

/**
 * One attempt. When the provider refuses a part of the request that weir can leave out, or lacks the path of a format, weir
 * prepares the request anew and sends it again to the same host. It records the missing path after the next format answered.
 */
async function open(incoming: Incoming, attempt: Attempt, gateway: Gateway): Promise<Opened> {
  const { call, format } = incoming;
  const missing: string[] = [];
  let lane = chooseLane(incoming, attempt, gateway);
  for (;;) {
    const preparing = lane.prepare();
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const response = prepared && (await send(prepared, attempt));
    if (!response || response.ok) {
      const opened = await lane.open(response, gateway);
      if (opened.kind === "stream") await opened.source.begin();
      for (const id of missing) gateway.registry.noteMissingFormat(attempt.target.deployment, id);
      call.status = opened.status;
      return opened;
    }
    const refusal = await lane.refusal(response);
    if (lane.leavesOut(refusal)) continue;
    const next = isMissingPath(refusal, attempt) && inNextFormat(attempt.target, format.id);
    if (!next) throw refusal;
    missing.push(attempt.target.format);
    attempt.turnTo(next);
    lane = chooseLane(incoming, attempt, gateway);
  }
}
