/**
 * One connection to an upstream: carries one request and its answer at a time. Bytes are read only as fast as the reader
 * of the answer takes them. A connection that does anything unexpected is closed and carries no other request.
 */
import type { Socket as Pending } from "node:net";
import type { Socket, SocketHandler } from "bun";
import { dial, takeOver } from "./dial.ts";
import { HttpError, type Phase } from "./error.ts";
import type { Carrier, Exchange } from "./exchange.ts";
import type { Origin } from "./origin.ts";
import type { UpstreamRequest } from "./types.ts";

/** The client that a connection belongs to. */
export interface ConnectionPool {
  /** The answer is whole, and the connection can carry another request. */
  release(connection: Connection, exchange: Exchange): void;
  /** The connection is closed. */
  forget(connection: Connection): void;
  /** The upstream closed a kept connection without an answer: the other kept ones may be closed too. */
  dropIdle(origin: Origin): void;
  /** The upstream sent bytes that answer no request. The connection is closed. */
  surplus(connection: Connection): void;
}

/** Requests are put together here, so that head and small bodies leave in one write. */
const scratch = Buffer.allocUnsafe(64 * 1024);

export class Connection implements Carrier {
  readonly origin: Origin;
  /** Only requests of this pool are sent over it. */
  readonly pool: string;
  /** How long it may take to be made. Milliseconds. */
  readonly connectMs: number;
  readonly #keeper: ConnectionPool;
  /** The socket while it connects. */
  readonly #pending: Pending;
  /** The socket once it is open. */
  #socket: Socket<Connection> | undefined;
  /** What the socket has not taken yet. */
  #unsent: Uint8Array[] = [];
  #exchange: Exchange | undefined;
  #stage: "dns" | "connect" | "tls" | "open" | "closed";
  /** Answers it has carried. */
  served = 0;
  /** Since when it connects, or is idle; monotonic milliseconds. */
  since = performance.now();
  /** When it may carry another request; monotonic milliseconds. */
  readyAt = 0;
  /** The upstream closes it after being idle that long; milliseconds. */
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

  /** How far the request on it has come. */
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

  /** Sends a request over a connection that was kept. */
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
    const taken = this.#write(scratch.subarray(0, filled));
    // The next request overwrites the scratch buffer, so what the socket has not taken is copied.
    if (taken < filled) this.#unsent.push(Buffer.from(scratch.subarray(taken, filled)));
    if (!fits) this.#unsent.push(Buffer.from(head, "latin1"));
    if (next < body.length) this.#unsent.push(...body.slice(next));
    if (taken === filled) this.drained();
  }

  /** @returns how many bytes the socket took */
  #write(bytes: Uint8Array): number {
    return Math.max(0, this.#socket?.write(bytes) ?? 0);
  }

  /** The socket takes bytes again. */
  drained(): void {
    for (let next = this.#unsent[0]; next && !this.closed; next = this.#unsent[0]) {
      const taken = this.#write(next);
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
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
    if (exchange.done) this.#finish(exchange);
  }

  /** The answer is whole. A connection whose request has not been sent to its end cannot carry another one. */
  #finish(exchange: Exchange): void {
    this.#exchange = undefined;
    this.served++;
    if (exchange.surplus) return this.#surplus();
    if (!exchange.keepAlive || this.#unsent.length > 0 || this.closed) return this.destroy();
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

  /** The upstream has closed its half, or all of it. */
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

  /** The exchange on it fails, and the connection is closed. */
  fail(error: HttpError): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.destroy();
    if (error.reason === "stale") this.#keeper.dropIdle(this.origin);
    exchange?.fail(error);
  }

  /** The exchange gives up: nobody wants the answer. */
  abandon(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    this.destroy();
  }

  /** Closes it at once, also while it connects. */
  destroy(): void {
    if (this.closed) return;
    this.#stage = "closed";
    this.#unsent = [];
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
 * A kept connection that is closed this soon without a byte of the answer was, as a rule, closed by the upstream as idle
 * while the request was on its way. Every client of the field repeats the request then (curl, Go, nginx). Milliseconds.
 */
const STALE_MS = 500;

function isStale({ reused, sentAt }: Exchange, phase: Phase): boolean {
  return reused && phase === "sent" && performance.now() - sentAt < STALE_MS;
}
