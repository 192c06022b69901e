/** The keeper in a thread of its own: the thread's side. */
import { parentPort, workerData } from "node:worker_threads";
import { isReaderData, runReader } from "./books/reader-thread.ts";
import { type Connection, Keeper } from "./keeper.ts";
import { openBooks } from "./books/index.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { Hello, KeeperSettings } from "./settings.ts";

/** `open` is the first message, `close` the last one. */
export type ToThread = ToKeeper | { open: KeeperSettings } | { close: true };
export type FromThread = FromKeeper | Hello | { closed: true };

export function runThread(): void {
  if (isReaderData(workerData)) return runReader(workerData);
  const send = (message: FromThread) => parentPort?.postMessage(message);
  let keeper: Keeper | undefined;
  let connection: Connection | undefined;
  parentPort?.on("message", (message: ToThread) => {
    if ("open" in message) {
      const { books, admin } = openBooks(message.open, false);
      keeper = new Keeper(message.open, books, undefined, admin);
      connection = keeper.connect(send);
    } else if ("close" in message) {
      connection?.ended();
      void keeper?.close().finally(() => send({ closed: true }));
    } else connection?.receive(message);
  });
}
