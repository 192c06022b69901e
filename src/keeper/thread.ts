/** The keeper in a thread of its own: the thread's side. */
import { parentPort } from "node:worker_threads";
import { Keeper } from "./keeper.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { Hello, KeeperSettings } from "./settings.ts";

/** `open` is the first message, `close` the last one. */
export type ToThread = ToKeeper | { open: KeeperSettings } | { close: true };
export type FromThread = FromKeeper | Hello | { closed: true };

export function runThread(): void {
  const send = (message: FromThread) => parentPort?.postMessage(message);
  let keeper: Keeper | undefined;
  parentPort?.on("message", (message: ToThread) => {
    if ("open" in message) {
      keeper = new Keeper(message.open);
      const fault = keeper.open();
      send({ hello: true, ...(fault !== undefined && { fault }) });
    } else if ("close" in message) {
      keeper?.close();
      send({ closed: true });
    } else keeper?.handle(message, send);
  });
}
