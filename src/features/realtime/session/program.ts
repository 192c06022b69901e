/** Sessions that a program holds, such as those of the mock. */
import type { Attempt } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { RealtimeSession } from "../../../core/realtime.ts";
import { viewOf } from "../../../gateway/plugins/call-view.ts";
import type { End, Listening } from "../../../core/socket.ts";

/** @throws GatewayError as the program throws it */
export async function openProgram(attempt: Attempt, listening: Listening): Promise<End> {
  const { provider, model } = attempt.target;
  const program = provider.does?.realtime;
  if (typeof program !== "function") throw failed(provider.name);
  const { promise, reject } = Promise.withResolvers<never>();
  attempt.stop.addEventListener("abort", () => reject(attempt.stop.reason!));
  const peer = {
    model,
    send: (event: string) => listening.frame(event),
    close: (code: number, reason: string) => listening.closed(code, reason),
  };
  let session: RealtimeSession;
  try {
    session = await Promise.race([program(peer, viewOf(attempt)), promise]);
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : failed(provider.name, thrown);
  }
  return {
    buffered: 0,
    pause() {},
    resume() {},
    send(frame) {
      try {
        session.receive(frame);
      } catch {
        listening.closed(1011, "The program has failed.");
      }
    },
    close: () => session.closed(),
  };
}

function failed(name: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream", `The provider ${name} failed; its log has the details.`, {
    ...{ code: "plugin_failed", cause },
  });
}
