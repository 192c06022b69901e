/** Connects to a host that serves sessions. */
import type { Attempt } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { End, Listening } from "../../../core/socket.ts";
import type { SessionAddress } from "../../../gateway/sessions.ts";

/** @throws GatewayError `upstream` if the host does not take the session, or the reason of the attempt's stop */
export function dial({ url, headers }: SessionAddress, attempt: Attempt, listening: Listening): Promise<End> {
  const { provider } = attempt.target;
  const { promise, resolve, reject } = Promise.withResolvers<End>();
  const socket = new WebSocket(url, { headers: { ...headers } } as never);
  let isOpen = false;
  attempt.stop.addEventListener("abort", () => {
    if (isOpen) return;
    socket.close();
    reject(attempt.stop.reason!);
  });
  socket.addEventListener("open", () => {
    isOpen = true;
    resolve({
      send: (frame) => socket.send(frame),
      get buffered() {
        return socket.bufferedAmount;
      },
      pause() {},
      resume() {},
      close: (code, reason) => socket.close(code, reason),
    });
  });
  socket.addEventListener("message", ({ data }) => listening.frame(String(data)));
  socket.addEventListener("close", ({ code, reason }) => {
    if (isOpen) return listening.closed(code, reason);
    reject(
      new GatewayError("upstream", `The provider ${provider.name} did not take the session.`, {
        code: "upstream_unreachable",
      }),
    );
  });
  return promise;
}
