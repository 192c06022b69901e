/** The part in each process that serves calls: it notes on a call with a valid mark which one it sends again. */
import type { Call } from "../../core/call.ts";
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { replayOf } from "./columns.ts";
import type { FromWorker, SecretMessage } from "./keeper.ts";

export function start(host: WorkerHost): WorkerPart {
  const channel = host.channel<FromWorker, SecretMessage>();
  /** Absent until the operator sends the first call again. */
  let repeatedBy: ((call: Call) => string | undefined) | undefined;
  const message = async ({ secret }: SecretMessage) => {
    const { markReader } = await import("./mark.ts");
    repeatedBy = markReader(secret);
    channel.send("ready");
  };
  const up = () => channel.send("up");
  channel.listen({ up, down: () => {}, message: (told) => void message(told) });
  if (channel.isUp) up();
  const note = (call: Call) => {
    const id = repeatedBy?.(call);
    if (id !== undefined) replayOf.set(call, id);
  };
  return { seams: () => undefined, recorder: () => note };
}
