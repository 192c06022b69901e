/** The keeper in a process of its own, which the workers reach by a unix socket. */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { encodeFrame, FrameReader } from "../process/frames.ts";
import { Keeper, type OpenedBooks } from "./keeper.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { KeeperHello, KeeperSettings } from "./settings.ts";

/** A peer that does not read this much is disconnected. Bytes. */
const MAX_UNREAD = 512 * 1024 * 1024;

/** A keeper behind a socket. */
export interface ListeningKeeper {
  /** Number of open connections. */
  readonly connections: number;
  /** Commits what has arrived, closes the file and ends all connections. */
  close(): Promise<void>;
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
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    attend(socket, keeper);
  });
  rmSync(path, { force: true });
  await listening(server, path);
  chmodSync(path, 0o600);
  return {
    get connections() {
      return sockets.size;
    },
    async close() {
      server.close();
      rmSync(path, { force: true });
      await keeper.close();
      for (const socket of sockets) socket.destroySoon();
    },
  };
}

function listening(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(path, resolve);
  return promise;
}

function attend(socket: Socket, keeper: Keeper): void {
  const send = (message: FromKeeper | KeeperHello) => {
    if (socket.destroyed) return;
    socket.write(encodeFrame(message));
    if (socket.writableLength > MAX_UNREAD) socket.destroy();
  };
  const connection = keeper.connect(send);
  const frames = new FrameReader<ToKeeper>((message) => connection.receive(message));
  socket.on("error", () => {});
  socket.on("close", () => connection.ended());
  socket.on("data", (chunk) => {
    try {
      frames.push(chunk as Buffer);
    } catch {
      socket.destroy();
    }
  });
}
