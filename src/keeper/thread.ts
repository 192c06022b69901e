/** The threads of weir, which its only worker starts: the keeper, and the reader of its books. The thread's side. */
import { shrinkAfterStart } from "../process/shrink.ts";
import type { ReaderAsk, ReaderData } from "./store/reader-thread.ts";
import { type WorkerConnection, Keeper, type OpenedBooks } from "./keeper.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { KeeperHello, KeeperSettings } from "./settings.ts";

/** `open` is the first message, `close` or `pass` the last one. */
export type ToThread = ToKeeper | Opening | { close: true } | { pass: true };
export type FromThread = FromKeeper | KeeperHello | { closed: true };

interface Opening {
  open: KeeperSettings;
}

/** Opens the books, and the admin API over them. */
type Open = (settings: KeeperSettings) => Promise<OpenedBooks>;

/** The thread of the keeper, or that of its reader of the books. @param early messages that have arrived; the handler adds later ones */
export async function runThread(early: unknown[], openBooks: Open): Promise<void> {
  if (early.length === 0) await nextMessage(early);
  const first = early.shift() as Opening | ReaderData;
  const receive = "readBooks" in first ? await startReader(first) : startKeeper(first, openBooks);
  for (const message of early) receive(message);
  self.onmessage = ({ data }) => receive(data);
}

function nextMessage(early: unknown[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  self.onmessage = ({ data }) => {
    early.push(data);
    resolve();
  };
  return promise;
}

async function startReader(data: ReaderData): Promise<(message: unknown) => void> {
  const { createReader } = await import("./store/reader-thread.ts");
  const receive = createReader(data, (answer) => self.postMessage(answer));
  return (message) => receive(message as ReaderAsk);
}

function startKeeper({ open }: Opening, openBooks: Open): (message: unknown) => void {
  const send = (message: FromThread) => self.postMessage(message);
  const keeper = new Keeper(open, openBooks(open));
  const connection: WorkerConnection = keeper.connect(send);
  shrinkAfterStart();
  return (received) => {
    const message = received as Exclude<ToThread, Opening>;
    if ("pass" in message)
      return void keeper.pass(() => connection.ended()).finally(() => send({ closed: true }));
    if (!("close" in message)) return connection.receive(message);
    connection.ended();
    void keeper.close().finally(() => send({ closed: true }));
  };
}
