/** The keeper in a process of its own, which the workers reach by a unix socket. */
import { listenAt } from "../process/sockets.ts";
import { Keeper, type OpenedBooks } from "./keeper.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { KeeperHello, KeeperSettings } from "./settings.ts";

/** A keeper behind a socket. */
export interface ListeningKeeper {
  /** Number of open connections. */
  readonly connections: number;
  /** The next keeper may listen where the admin API does. @throws Error with one sentence where it cannot */
  share(): Promise<void>;
  /** Commits what has arrived, closes the file and ends all connections. */
  close(): Promise<void>;
  /** The same for the next keeper of the store, while workers run. */
  pass(): Promise<void>;
}

/**
 * @param path path of the socket; a socket file that an ended keeper left there is replaced
 * @param opened the books and the admin API over them
 * @param now milliseconds since 1970
 */
export async function listenKeeper(
  path: string,
  settings: KeeperSettings,
  opened: Promise<OpenedBooks>,
  now?: () => number,
): Promise<ListeningKeeper> {
  const keeper = new Keeper(settings, opened, now);
  const socket = await listenAt<FromKeeper | KeeperHello, ToKeeper>(path, (send) => keeper.connect(send));
  return {
    get connections() {
      return socket.connections;
    },
    share: () => keeper.share(),
    async close() {
      socket.refuse();
      await keeper.close();
      socket.close();
    },
    async pass() {
      socket.refuse();
      await keeper.pass(() => socket.close());
    },
  };
}
