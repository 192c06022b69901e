/** Connects to a host that serves sessions. */
import type { Attempt } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { End, Listening } from "../../../core/socket.ts";
import type { SessionAddress } from "../../../gateway/sessions.ts";
import { describeReason, HttpError, proxyFor, reasonOf } from "../../../http/index.ts";
import { openWebSocket, UpgradeRefused } from "../../../http/web-socket.ts";
import { refusalOf } from "../../../kinds/realtime/refusal.ts";

/** Longest event of a provider. Bytes. */
const MOST_BYTES = 15 * 1_048_576;

/** @throws GatewayError if the host does not take the session, or the reason of the attempt's stop */
export async function dial(
  { url, headers }: SessionAddress,
  attempt: Attempt,
  listening: Listening,
): Promise<End> {
  const { provider, deployment } = attempt.target;
  try {
    if (proxyFor(url.replace(/^ws/, "http"), process.env))
      throw new HttpError("ERR_PROXY", "WebSockets do not go through a proxy.", "connect");
    return await openWebSocket(
      { url, headers, stop: attempt.stop, tls: deployment.tls, mostBytes: MOST_BYTES },
      listening,
    );
  } catch (thrown) {
    if (attempt.stop.reason) throw attempt.stop.reason;
    if (thrown instanceof UpgradeRefused) {
      attempt.upstreamStatus = thrown.status;
      throw refusalOf(thrown.status, thrown.headers, thrown.body);
    }
    const reason = reasonOf(thrown) ?? "unreachable";
    throw new GatewayError("upstream", `The provider ${provider.name} ${describeReason(reason)}.`, {
      ...{ code: "upstream_unreachable", cause: thrown },
    });
  }
}
