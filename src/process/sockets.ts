/** Unix sockets between the processes of a gateway, which carry frames. A connection that ends is opened again by its client. */
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { encodeFrame, FrameReader } from "./frames.ts";

/** Delay before the first attempt to connect again, doubled with each failure. Milliseconds. */
const FIRST_MS = 10;
const LONGEST_MS = 100;

/** A peer that does not read this much is disconnected. Bytes. */
const MAX_UNREAD = 512 * 1024 * 1024;

export interface SocketEvents<From> {
  receive(message: From): void;
  /** The connection has ended; messages that were sent may be lost. Called after each attempt that failed, too. */
  closed(): void;
}

/** A connection that opens itself again. It does not keep the process alive. */
export class LastingSocket<To extends object, From> {
  readonly #path: string;
  readonly #events: SocketEvents<From>;
  #isClosing = false;
  #pause = FIRST_MS;
  #socket: Socket;

  /** @param path path of the socket of {@link listenAt} */
  constructor(path: string, events: SocketEvents<From>) {
    this.#path = path;
    this.#events = events;
    this.#socket = this.#open();
  }

  send(message: To): void {
    this.#socket.write(encodeFrame(message));
  }

  /** Closes the connection once everything that was sent is written. */
  close(): void {
    this.#isClosing = true;
    this.#socket.destroySoon();
  }

  #open(): Socket {
    let isOver = false;
    const frames = new FrameReader<From>((message) => {
      this.#pause = FIRST_MS;
      this.#events.receive(message);
    });
    const opened = connect(this.#path);
    opened.on("error", () => {});
    opened.on("data", (chunk) => {
      // The next peer counts on what the one before has not delivered.
      if (isOver) return;
      try {
        frames.push(chunk as Buffer);
      } catch {
        opened.destroy();
      }
    });
    opened.on("close", () => {
      isOver = true;
      this.#events.closed();
      if (this.#isClosing) return;
      setTimeout(() => {
        if (!this.#isClosing) this.#socket = this.#open();
      }, this.#pause).unref();
      this.#pause = Math.min(LONGEST_MS, this.#pause * 2);
    });
    opened.unref();
    return opened;
  }
}

/** One connection from the side of the process that listens. */
export interface Attended<From> {
  receive(message: From): void;
  ended(): void;
}

/** A socket that other processes of this user reach. */
export interface ListeningSocket {
  /** Number of open connections. */
  readonly connections: number;
  /** Accepts no more connections, and removes the file. */
  refuse(): void;
  /** Closes each connection once everything that was sent is written. */
  close(): void;
}

/**
 * @param path path of the socket; a socket file that an ended process left there is replaced
 * @param attend called with each connection. `send` drops messages when the connection has ended
 * @throws Error of the system if the path cannot be used
 */
export async function listenAt<To extends object, From>(
  path: string,
  attend: (send: (message: To) => void) => Attended<From>,
): Promise<ListeningSocket> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    attendSocket(socket, attend);
  });
  rmSync(path, { force: true });
  await listening(server, path);
  chmodSync(path, 0o600);
  return {
    get connections() {
      return sockets.size;
    },
    refuse() {
      server.close();
      rmSync(path, { force: true });
    },
    close() {
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

function attendSocket<To extends object, From>(
  socket: Socket,
  attend: (send: (message: To) => void) => Attended<From>,
): void {
  const connection = attend((message) => {
    if (socket.destroyed) return;
    socket.write(encodeFrame(message));
    if (socket.writableLength > MAX_UNREAD) socket.destroy();
  });
  const frames = new FrameReader<From>((message) => connection.receive(message));
  socket.on("error", () => {});
  socket.on("close", () => connection.ended());
  socket.on("data", (chunk) => {
    try {
      frames.push(chunk as Buffer);
    } catch (error) {
      // The other side connects again, perhaps with the same bytes: without this line the operator would not see why.
      process.stderr.write(`weir closed a connection between its processes: ${String(error)}\n`);
      socket.destroy();
    }
  });
}
