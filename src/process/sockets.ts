/** Unix sockets between the processes of a gateway, which carry frames. A connection that ends is opened again by its client. */
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { encodeFrame, encodeJsonFrame, FrameReader } from "./frames.ts";

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

/** What both sides of a socket have agreed upon. */
export interface SocketOptions {
  /** Messages are JSON without byte arrays, and those that are sent in one turn of the event loop are written at once. */
  readonly isJson?: boolean;
}

/** Writes messages to one socket. */
class Writer {
  readonly #socket: Socket;
  readonly #isJson: boolean;
  #waiting: Uint8Array[] = [];

  constructor(socket: Socket, { isJson = false }: SocketOptions) {
    this.#socket = socket;
    this.#isJson = isJson;
  }

  write(message: object): void {
    if (!this.#isJson) return void this.#socket.write(encodeFrame(message));
    if (this.#waiting.push(encodeJsonFrame(message)) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const frames = this.#waiting;
    this.#waiting = [];
    if (frames.length === 0 || this.#socket.destroyed) return;
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}

/** A connection that opens itself again. It does not keep the process alive. */
export class LastingSocket<To extends object, From> {
  readonly #path: string;
  readonly #events: SocketEvents<From>;
  #isClosing = false;
  readonly #options: SocketOptions;
  #pause = FIRST_MS;
  #socket: Socket;
  #writer: Writer;

  /** @param path path of the socket of {@link listenAt} */
  constructor(path: string, events: SocketEvents<From>, options: SocketOptions = {}) {
    this.#path = path;
    this.#events = events;
    this.#options = options;
    this.#socket = this.#open();
    this.#writer = new Writer(this.#socket, options);
  }

  send(message: To): void {
    this.#writer.write(message);
  }

  /** Closes the connection once everything that was sent is written. */
  close(): void {
    this.#isClosing = true;
    this.#writer.flush();
    this.#socket.destroySoon();
  }

  #open(): Socket {
    let isOver = false;
    const frames = new FrameReader<From>((message) => {
      this.#pause = FIRST_MS;
      this.#events.receive(message);
    }, this.#options.isJson);
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
        if (this.#isClosing) return;
        this.#socket = this.#open();
        this.#writer = new Writer(this.#socket, this.#options);
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
  options: SocketOptions = {},
): Promise<ListeningSocket> {
  const sockets = new Map<Socket, Writer>();
  const server = createServer((socket) => {
    const writer = new Writer(socket, options);
    sockets.set(socket, writer);
    socket.on("close", () => sockets.delete(socket));
    attendSocket(socket, writer, attend, options);
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
      for (const [socket, writer] of sockets) {
        writer.flush();
        socket.destroySoon();
      }
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
  writer: Writer,
  attend: (send: (message: To) => void) => Attended<From>,
  { isJson }: SocketOptions,
): void {
  const connection = attend((message) => {
    if (socket.destroyed) return;
    writer.write(message);
    if (socket.writableLength > MAX_UNREAD) socket.destroy();
  });
  const frames = new FrameReader<From>((message) => connection.receive(message), isJson);
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
