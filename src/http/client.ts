/**
 * A strict HTTP/1.1 client. Connections are pooled by origin and pool name, and reused newest first, with one request at a
 * time. It exists because the runtime's `fetch` stops reusing connections beyond a few dozen and shares one pool among all
 * callers. It deliberately has no redirects, cookies, pipelining or upgrades.
 */
import { Connection, type ConnectionPool } from "./connection.ts";
import { HttpError } from "./error.ts";
import { Exchange } from "./exchange.ts";
import { addressOf, type Origin } from "./dial.ts";
import { hasBody, type Transport, type UpstreamRequest, type UpstreamResponse } from "./types.ts";
import { Pool, Trust } from "./pool.ts";

export interface HttpClientOptions {
  /** Maximum time to connect, including the TLS handshake. Milliseconds. */
  connectMs?: number;
  /** Maximum time a connection is kept idle. Milliseconds. */
  idleMs?: number;
  /** Maximum number of idle connections in all pools. */
  maxIdle?: number;
  /** How long connections are not reused after their origin sent unsolicited bytes. Milliseconds. */
  distrustMs?: number;
  /** Called with a sentence about each provider that sends bytes that answer no request. */
  onAlert?(sentence: string): void;
}

const SWEEP_MS = 500;
/** An idle connection is closed this long before the provider would close it. Milliseconds. */
const MARGIN_MS = 1_000;

export class HttpClient implements ConnectionPool {
  readonly #connectMs: number;
  readonly #idleMs: number;
  readonly #distrustMs: number;
  readonly #onAlert: (sentence: string) => void;
  readonly #idle: Pool;
  readonly #open = new Set<Connection>();
  /** Connections whose answer ended in the current turn of the event loop. */
  #released: Connection[] = [];
  readonly #trust: Trust;
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(options: HttpClientOptions = {}) {
    this.#connectMs = options.connectMs ?? 10_000;
    this.#idleMs = options.idleMs ?? 60_000;
    this.#distrustMs = options.distrustMs ?? 60_000;
    this.#trust = new Trust(this.#distrustMs);
    this.#onAlert = options.onAlert ?? (() => {});
    this.#idle = new Pool(options.maxIdle ?? 1_024);
  }

  /** @throws HttpError, or the reason of `stop` when it was aborted */
  readonly request: Transport = (request) => {
    if (request.stop.aborted) return Promise.reject(request.stop.reason);
    const { origin, target } = addressOf(request.url);
    const body = hasBody(request.method) ? request.body : [];
    const exchange = new Exchange(writeHead(request, origin, target), body, request.stop, request.rest);
    const kept = request.fresh ? undefined : this.#take(origin, request.pool ?? "");
    if (kept) kept.carry(exchange);
    else this.#connect(origin, request, exchange);
    return request.method === "GET" && kept ? this.#repeatIfStale(request, exchange) : exchange.response;
  };

  /** Repeats a request without effects if the kept connection was closed as idle. */
  #repeatIfStale(request: UpstreamRequest, { response }: Exchange): Promise<UpstreamResponse> {
    return response.catch((cause: unknown) => {
      if (cause instanceof HttpError && cause.reason === "stale")
        return this.request({ ...request, fresh: true });
      throw cause;
    });
  }

  /** Number of open connections, including idle ones. */
  get size(): number {
    return this.#open.size;
  }

  /** Closes all connections. Running exchanges fail. */
  close(): void {
    for (const connection of this.#open)
      connection.fail(new HttpError("ECONNRESET", "The client was closed.", connection.phase));
  }

  #take(origin: Origin, pool: string): Connection | undefined {
    const now = performance.now();
    for (let kept = this.#idle.take(origin, pool, now); kept; kept = this.#idle.take(origin, pool, now))
      if (this.#isFresh(kept, now)) return kept;
      else kept.destroy();
    return undefined;
  }

  #isFresh(kept: Connection, now: number): boolean {
    return now - kept.since < Math.min(this.#idleMs, kept.idleMs - MARGIN_MS);
  }

  #connect(origin: Origin, request: UpstreamRequest, exchange: Exchange): void {
    this.#sweeper ??= this.#startSweeper();
    const connectMs = request.connectMs ?? this.#connectMs;
    this.#open.add(new Connection(origin, request, this, exchange, connectMs));
  }

  /**
   * Makes a connection idle after the event loop has read from all sockets once more, so that surplus bytes after an answer
   * are seen before the next request is written. Immediates run before sockets are read, so this takes two of them.
   */
  release(connection: Connection, { reused, sentAt, firstByteAt }: Exchange): void {
    const { origin } = connection;
    this.#trust.answered(origin, firstByteAt - sentAt);
    if (reused) connection.readyAt = sentAt + this.#trust.restMs(origin);
    if (this.#released.push(connection) > 1) return;
    setImmediate(() => {
      const released = this.#released;
      this.#released = [];
      setImmediate(() => this.#keep(released));
    });
  }

  #keep(released: readonly Connection[]): void {
    const now = performance.now();
    for (const connection of released) {
      if (connection.closed) continue;
      connection.since = now;
      if (this.#trust.isDistrusted(connection.origin, now)) connection.destroy();
      else this.#idle.add(connection);
    }
  }

  forget(connection: Connection): void {
    this.#open.delete(connection);
    this.#idle.remove(connection);
  }

  dropIdle(origin: Origin): void {
    for (const connection of this.#idle.of(origin)) connection.destroy();
  }

  /** Stops reuse of connections to an origin that sends unsolicited bytes: callers could get each other's answers. */
  surplus({ origin, served }: Connection): void {
    const now = performance.now();
    // While reuse is off, surplus bytes of a connection with a single request cannot reach another caller.
    const isNews = served > 1 || !this.#trust.isDistrusted(origin, now);
    this.#trust.distrust(origin, now);
    this.dropIdle(origin);
    const seconds = Math.round(this.#distrustMs / 1000);
    if (isNews)
      this.#onAlert(
        `${origin.host} sent bytes that answer no request; weir closes its connections and reuses none for ${seconds} s`,
      );
  }

  #startSweeper(): ReturnType<typeof setInterval> {
    const sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS);
    sweeper.unref();
    return sweeper;
  }

  /** Closes connections that exceed the connect timeout or the idle timeout. */
  #sweep(now: number): void {
    for (const connection of this.#open) {
      const { connecting, connectMs, phase } = connection;
      if (connecting && now - connection.since > connectMs)
        connection.fail(
          new HttpError("ETIMEDOUT", `No connection within ${connectMs} ms.`, phase, "connect-timeout"),
        );
    }
    for (const connection of [...this.#idle]) if (!this.#isFresh(connection, now)) connection.destroy();
    this.#idle.prune();
    if (this.#open.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

/** Characters that end a header line or are not Latin-1. */
const UNWRITABLE = /[\r\n\0]|[^\x00-\xff]/;

/** The lines of frozen header objects, which cannot change after they were written. */
const writtenLines = new WeakMap<object, string>();

function linesOf(headers: UpstreamRequest["headers"]): string {
  const known = writtenLines.get(headers);
  if (known !== undefined) return known;
  let lines = "";
  for (const name in headers) {
    const value = headers[name]!;
    if (UNWRITABLE.test(value))
      throw new HttpError("EINVAL", `The header ${name} holds characters that cannot be sent.`, "connect");
    lines += `${name}: ${value}\r\n`;
  }
  if (Object.isFrozen(headers)) writtenLines.set(headers, lines);
  return lines;
}

function writeHead(
  { method = "POST", headers, body, rest }: UpstreamRequest,
  origin: Origin,
  target: string,
): string {
  const head = `${method} ${target} HTTP/1.1\r\nhost: ${origin.host}\r\n${linesOf(headers)}`;
  if (!hasBody(method)) return `${head}\r\n`;
  let length = rest?.length ?? 0;
  for (const piece of body) length += piece.length;
  return `${head}content-length: ${length}\r\n\r\n`;
}
