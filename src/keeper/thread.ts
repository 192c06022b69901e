/** The keeper in a thread of its own: the thread's side. */
import { parentPort, workerData } from "node:worker_threads";
import type { ReaderData } from "./books/reader-thread.ts";
import { type Connection, Keeper, type OpenedBooks } from "./keeper.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { Hello, KeeperSettings } from "./settings.ts";

/** `open` is the first message, `close` the last one. */
export type ToThread = ToKeeper | { open: KeeperSettings } | { close: true };
export type FromThread = FromKeeper | Hello | { closed: true };

/** The thread of the keeper, or that of its reader of the books. */
export async function runThread(): Promise<void> {
  if (isReaderData(workerData)) {
    const { runReader } = await import("./books/reader-thread.ts");
    return runReader(workerData);
  }
  const send = (message: FromThread) => parentPort?.postMessage(message);
  let keeper: Keeper | undefined;
  let connection: Connection | undefined;
  parentPort?.on("message", (message: ToThread) => {
    if ("open" in message) {
      keeper = new Keeper(message.open, openBooks(message.open));
      connection = keeper.connect(send);
    } else if ("close" in message) {
      connection?.ended();
      void keeper?.close().finally(() => send({ closed: true }));
    } else connection?.receive(message);
  });
}

async function openBooks(settings: KeeperSettings): Promise<OpenedBooks> {
  const books = await import("./books/index.ts");
  return books.openBooks(settings, false);
}

function isReaderData(data: unknown): data is ReaderData {
  return typeof data === "object" && data !== null && "readBooks" in data;
}
