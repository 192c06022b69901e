/**
 * One connection to an upstream: carries one request and its answer at a time. Bytes are written as the socket takes
 * them and read only as fast as somebody wants them; whatever is not in order closes the connection for good.
 */
import type { Socket, SocketHandler } from "bun";
import { HttpError } from "./error.ts";
import type { Exchange } from "./exchange.ts";
import type { Origin } from "./origin.ts";

/** Who keeps connections for later. */
export interface Keeper {
  /** The answer is whole and the connection can carry another request. */
  keep(connection: Connection): void;
  /** The connection is gone. */
  forget(connection: Connection): void;
  /** A kept connection of this origin was closed by the other side unseen: the others may be too. */
  distrust(origin: Origin): void;
}

/** Requests are put together here: head and small bodies leave in one write. */
const scratch = Buffer.allocUnsafe(64 * 1024);

export class Connection {
  readonly origin: Origin;
  readonly #keeper: Keeper;
  #socket: Socket<Connection> | undefined;
  #exchange: Exchange | undefined;
  /** What the socket has not taken yet. */
  #unsent: Uint8Array[] = [];
  #closed = false;
  /** Answers it has carried. */
  served = 0;
  /** Since when it connects, or is idle; monotonic milliseconds. */
  since = performance.now();
  /** The other side closes it after that long idle; milliseconds. */
  idleMs = Number.POSITIVE_INFINITY;

  /** How long it may take to be made. Milliseconds. */
  readonly connectMs: number;

  constructor(origin: Origin, keeper: Keeper, exchange: Exchange, connectMs: number) {
    this.origin = origin;
    this.connectMs = connectMs;
    this.#keeper = keeper;
    this.#exchange = exchange;
    exchange.attach(this);
    this.#connect();
  }

  get connecting(): boolean {
    return this.#socket === undefined && !this.#closed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  #connect(): void {
    const { hostname, port, tls } = this.origin;
    // The handlers see every failure; the promise says nothing they do not.
    Bun.connect<Connection>({ hostname, port, tls, data: this, socket: tls ? OVER_TLS : PLAIN }).catch(
      (cause) => this.fail(connectError(cause)),
    );
  }

  /** The socket can be written to. */
  opened(socket: Socket<Connection>): void {
    if (this.#closed) return void socket.terminate();
    socket.setNoDelay(true);
    this.#socket = socket;
    const exchange = this.#exchange;
    if (exchange) this.#send(exchange);
    else this.#keep();
  }

  /** Sends a request over a connection that was kept. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.attach(this);
    exchange.reused = true;
    this.#send(exchange);
  }

  #send(exchange: Exchange): void {
    exchange.sent = true;
    const { requestHead: head, requestBody: body } = exchange;
    const fits = head.length <= scratch.length;
    let filled = fits ? scratch.write(head, 0, "latin1") : 0;
    let next = 0;
    for (; fits && next < body.length && filled + body[next]!.length <= scratch.length; next++) {
      scratch.set(body[next]!, filled);
      filled += body[next]!.length;
    }
    const taken = this.#write(scratch.subarray(0, filled));
    // The scratch belongs to the next request, so what is left of it is copied.
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
    for (let next = this.#unsent[0]; next && !this.#closed; next = this.#unsent[0]) {
      const taken = this.#write(next);
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
  }

  received(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked: bytes on an idle connection could be taken for the next answer.
    if (!exchange) return this.destroy();
    try {
      exchange.receive(bytes);
    } catch (cause) {
      return this.fail(cause instanceof HttpError ? cause : new HttpError("EPROTO", String(cause), true));
    }
    if (exchange.done) this.#finish(exchange);
  }

  /** The answer is whole. A connection in doubt is not kept: half-sent requests, bytes behind the answer. */
  #finish(exchange: Exchange): void {
    this.#exchange = undefined;
    this.served++;
    if (!exchange.keepAlive || this.#unsent.length > 0 || this.#closed) return this.destroy();
    this.idleMs = exchange.idleMs;
    this.#keep();
  }

  #keep(): void {
    this.since = performance.now();
    this.#keeper.keep(this);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** The other side has closed its half, or all of it. */
  ended(cause?: Error): void {
    const exchange = this.#exchange;
    if (exchange?.endsWithConnection && !cause) {
      this.#exchange = undefined;
      exchange.finish();
      return this.destroy();
    }
    this.fail(closedError(cause, exchange));
  }

  /** The exchange on it fails, and the connection is closed. */
  fail(error: HttpError): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.destroy();
    if (error.code === "ESTALE") this.#keeper.distrust(this.origin);
    exchange?.fail(error);
  }

  /** The exchange gives up: nobody wants the answer. A connection that is still being made may serve the next one. */
  abandon(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    if (!this.connecting) this.destroy();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsent = [];
    this.#socket?.terminate();
    this.#keeper.forget(this);
  }
}

const PLAIN: SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(),
  close: (socket, cause) => socket.data.ended(cause),
  error: (socket, cause) => socket.data.fail(closedError(cause, undefined)),
  connectError: (socket, cause) => socket.data.fail(connectError(cause)),
};

/** Over TLS a request is written only behind a handshake that checked the certificate and its name. */
const OVER_TLS: SocketHandler<Connection> = {
  ...PLAIN,
  open: () => {},
  handshake(socket, authorized, fault) {
    if (authorized && !fault) socket.data.opened(socket);
    else {
      socket.data.fail(connectError(fault));
      socket.terminate();
    }
  },
};

function connectError(cause: unknown): HttpError {
  const code = codeOf(cause) ?? "ECONNRESET";
  const message = cause instanceof Error ? cause.message : "The connection could not be made.";
  return new HttpError(code, message, false);
}

/**
 * A kept connection that is closed before a byte of the answer came was, as a rule, closed while idle: the request
 * crossed the other side's farewell and was never read. Every client of the field repeats it then (curl, Go, nginx).
 */
const STALE_MS = 500;

function closedError(cause: Error | undefined, exchange: Exchange | undefined): HttpError {
  if (exchange && !exchange.sent) return connectError(cause);
  const quick = exchange !== undefined && performance.now() - exchange.startedAt < STALE_MS;
  if (exchange?.reused && !exchange.answered && quick)
    return new HttpError("ESTALE", "The kept connection had been closed by the other side.", false);
  return new HttpError(
    codeOf(cause) ?? "ECONNRESET",
    "The connection was closed before the answer was whole.",
    true,
  );
}

function codeOf(cause: unknown): string | undefined {
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : undefined;
}
