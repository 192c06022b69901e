/**
 * One connection to a provider, for one request and its answer at a time. It reads from the socket only as fast as the reader
 * of the answer (backpressure). After any protocol error the connection is closed and not reused.
 */
import type { Socket as Pending } from "node:net";
import type { Socket, SocketHandler } from "bun";
import { dial, type Origin, takeOver } from "./dial.ts";
import { HttpError, type Phase } from "./error.ts";
import type { Carrier, Exchange } from "./exchange.ts";
import type { UpstreamRequest } from "./types.ts";

/** The client that owns a connection. */
export interface ConnectionPool {
  /** The answer is complete, and the connection can be reused. */
  release(connection: Connection, exchange: Exchange): void;
  /** The connection is closed. */
  forget(connection: Connection): void;
  /** The provider closed a kept-alive connection without an answer: the other idle connections may be closed too. */
  dropIdle(origin: Origin): void;
  /** The provider sent bytes that answer no request. The connection is closed. */
  surplus(connection: Connection): void;
}

/** Buffer in which head and small body are joined, so that they are sent in one write. */
const scratch = Buffer.allocUnsafe(64 * 1024);

export class Connection implements Carrier {
  readonly origin: Origin;
  /** Only requests of this pool use it. */
  readonly pool: string;
  /** Connect timeout in milliseconds. */
  readonly connectMs: number;
  readonly #keeper: ConnectionPool;
  /** The socket while it connects. */
  readonly #pending: Pending;
  /** The socket once it is open. */
  #socket: Socket<Connection> | undefined;
  /** Bytes that the socket has not accepted yet. */
  #unsent: Uint8Array[] = [];
  /** What follows them. */
  #rest: AsyncGenerator<Uint8Array, void, undefined> | undefined;
  #isReadingRest = false;
  #exchange: Exchange | undefined;
  #stage: "dns" | "connect" | "tls" | "open" | "closed";
  /** Number of answers so far. */
  served = 0;
  /** Start of connecting or of being idle; monotonic milliseconds. */
  since = performance.now();
  /** Earliest time of its next request; monotonic milliseconds. */
  readyAt = 0;
  /** The provider closes it after this idle time; milliseconds. */
  idleMs = Number.POSITIVE_INFINITY;

  constructor(
    origin: Origin,
    { pool = "", tls }: Pick<UpstreamRequest, "pool" | "tls">,
    keeper: ConnectionPool,
    exchange: Exchange,
    connectMs: number,
  ) {
    this.origin = origin;
    this.#stage = origin.isName ? "dns" : "connect";
    this.pool = pool;
    this.connectMs = connectMs;
    this.#keeper = keeper;
    this.#exchange = exchange;
    exchange.attach(this);
    this.#pending = dial(origin, tls);
    this.#listen(this.#pending);
  }

  #listen(pending: Pending): void {
    pending.on("lookup", () => this.#reached("connect"));
    if (this.origin.secure) {
      pending.on("connect", () => this.#reached("tls"));
      pending.on("secureConnect", () => this.#opened());
    } else pending.on("connect", () => this.#opened());
    pending.on("end", () => this.ended());
    pending.on("error", (cause) => this.ended(cause));
    pending.on("close", () => this.ended());
  }

  get connecting(): boolean {
    return this.#stage !== "open" && this.#stage !== "closed";
  }

  get closed(): boolean {
    return this.#stage === "closed";
  }

  /** Phase of the request on this connection. */
  get phase(): Phase {
    const stage = this.#stage;
    return stage === "open" || stage === "closed" ? (this.#exchange?.phase ?? "sent") : stage;
  }

  #reached(stage: "connect" | "tls"): void {
    if (this.connecting) this.#stage = stage;
  }

  #opened(): void {
    if (this.closed || !this.#exchange) return;
    this.#stage = "open";
    this.#socket = takeOver(this.#pending, this, HANDLERS);
    this.#send(this.#exchange);
  }

  /** Sends a request on a connection that is open already. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.attach(this);
    exchange.reused = true;
    this.#send(exchange);
  }

  #send(exchange: Exchange): void {
    exchange.sentAt = performance.now();
    const { requestHead: head, requestBody: body } = exchange;
    const fits = head.length <= scratch.length;
    let filled = fits ? scratch.write(head, 0, "latin1") : 0;
    let next = 0;
    for (; fits && next < body.length && filled + body[next]!.length <= scratch.length; next++) {
      scratch.set(body[next]!, filled);
      filled += body[next]!.length;
    }
    const taken = this.#write(scratch, filled);
    // The next request overwrites the scratch buffer, so bytes that the socket has not accepted are copied.
    if (taken < filled) this.#unsent.push(Buffer.from(scratch.subarray(taken, filled)));
    if (!fits) this.#unsent.push(Buffer.from(head, "latin1"));
    if (next < body.length) this.#unsent.push(...body.slice(next));
    this.#rest = exchange.requestRest?.bytes();
    if (taken === filled) this.drained();
  }

  /** @returns number of bytes the socket accepted */
  #write(bytes: Uint8Array, length = bytes.length): number {
    return Math.max(0, this.#socket?.write(bytes, 0, length) ?? 0);
  }

  /** The socket accepts bytes again. */
  drained(): void {
    for (let next = this.#unsent[0]; next && !this.closed; next = this.#unsent[0]) {
      const taken = this.#write(next);
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
    if (this.#rest && !this.#isReadingRest) this.#readRest(this.#rest);
  }

  /** One piece at a time: the socket has accepted all before it. */
  #readRest(rest: AsyncGenerator<Uint8Array, void, undefined>): void {
    this.#isReadingRest = true;
    rest.next().then(
      ({ value }) => {
        this.#isReadingRest = false;
        if (this.closed) return;
        if (value) this.#unsent.push(value);
        else this.#rest = undefined;
        this.drained();
      },
      (cause: unknown) => this.fail(HttpError.from(cause, "sent")),
    );
  }

  received(bytes: Buffer): void {
    if (this.closed) return;
    const exchange = this.#exchange;
    if (!exchange) return this.#surplus();
    try {
      exchange.receive(bytes);
    } catch (cause) {
      return this.fail(HttpError.from(cause, exchange.phase));
    }
    if (exchange.done && !this.closed) this.#finish(exchange);
  }

  /** The answer is complete. A connection whose request was not sent completely cannot be reused. */
  #finish(exchange: Exchange): void {
    this.#exchange = undefined;
    this.served++;
    if (exchange.surplus) return this.#surplus();
    if (!exchange.keepAlive || this.#unsent.length > 0 || this.#rest || this.closed) return this.destroy();
    this.idleMs = exchange.idleMs;
    this.#keeper.release(this, exchange);
  }

  #surplus(): void {
    this.destroy();
    this.#keeper.surplus(this);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** The provider closed its side of the connection, or the whole connection. */
  ended(cause?: Error): void {
    if (this.closed) return;
    const exchange = this.#exchange;
    if (exchange?.endsWithConnection && !cause) {
      this.#exchange = undefined;
      exchange.finish();
      return this.destroy();
    }
    this.fail(this.#closedError(cause, exchange));
  }

  #closedError(cause: Error | undefined, exchange: Exchange | undefined): HttpError {
    const { phase } = this;
    if (exchange && isStale(exchange, phase))
      return new HttpError("ECONNRESET", "The kept connection was closed without an answer.", phase, "stale");
    const fallback = {
      code: "ECONNRESET",
      message: "The connection was closed before the answer was whole.",
    };
    return HttpError.from(cause ?? fallback, phase);
  }

  /** Fails the exchange and closes the connection. */
  fail(error: HttpError): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.destroy();
    if (error.reason === "stale") this.#keeper.dropIdle(this.origin);
    exchange?.fail(error);
  }

  /** Stops the exchange: the caller does not want the answer. */
  abandon(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    this.destroy();
  }

  /** Closes the connection at once, also while it connects. */
  destroy(): void {
    if (this.closed) return;
    this.#stage = "closed";
    this.#unsent = [];
    void this.#rest?.return().catch(() => {});
    this.#rest = undefined;
    if (this.#socket) this.#socket.terminate();
    else this.#pending.destroy();
    this.#keeper.forget(this);
  }
}

const HANDLERS: SocketHandler<Connection> = {
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(),
  close: (socket, cause) => socket.data.ended(cause),
  error: (socket, cause) => socket.data.ended(cause),
};

/**
 * If a kept-alive connection closes this soon without a byte of the answer, the provider usually closed it as idle while the
 * request was on its way. curl, Go and nginx retry the request in this case. Milliseconds.
 */
const STALE_MS = 500;

function isStale({ reused, sentAt }: Exchange, phase: Phase): boolean {
  return reused && phase === "sent" && performance.now() - sentAt < STALE_MS;
}
