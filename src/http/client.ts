/**
 * A strict HTTP/1.1 client: connections are kept by origin and pool and reused, newest first, one request at a time on
 * each. It exists because the runtime's `fetch` stops keeping connections beyond some dozens, and because its pool is
 * shared by all callers. What it leaves out on purpose: redirects, cookies, pipelining, upgrades.
 */
import { Connection, type ConnectionPool } from "./connection.ts";
import { HttpError } from "./error.ts";
import { Exchange } from "./exchange.ts";
import { addressOf, type Origin } from "./origin.ts";
import { Pool } from "./pool.ts";
import { Trust } from "./trust.ts";
import type { Transport, UpstreamRequest } from "./types.ts";

export interface HttpClientOptions {
  /** Longest time to connect, the TLS handshake included. Milliseconds. */
  connectMs?: number;
  /** Longest time a connection is kept idle. Milliseconds. */
  idleMs?: number;
  /** Most idle connections, of all pools together. */
  maxIdle?: number;
  /** How long connections to an origin are not reused after it sent bytes that answer no request. Milliseconds. */
  distrustMs?: number;
  /** Gets a sentence about each upstream that sends bytes that answer no request. */
  onAlert?(sentence: string): void;
}

const SWEEP_MS = 500;
/** A connection is closed this long before the upstream would close it. Milliseconds. */
const MARGIN_MS = 1_000;

export class HttpClient implements ConnectionPool {
  readonly #connectMs: number;
  readonly #idleMs: number;
  readonly #distrustMs: number;
  readonly #onAlert: (sentence: string) => void;
  readonly #idle: Pool;
  readonly #open = new Set<Connection>();
  /** Connections whose answer ended in this turn of the event loop. */
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

  /** @throws HttpError, or the reason why it was stopped */
  readonly request: Transport = (request) => {
    if (request.stop.aborted) return Promise.reject(request.stop.reason);
    const { origin, target } = addressOf(request.url);
    const exchange = new Exchange(writeHead(request, origin, target), request.body, request.stop);
    const kept = request.fresh ? undefined : this.#take(origin, request.pool ?? "");
    if (kept) kept.carry(exchange);
    else this.#connect(origin, request, exchange);
    return exchange.response;
  };

  /** Open connections, idle ones among them. */
  get size(): number {
    return this.#open.size;
  }

  /** Closes all connections; running exchanges fail. */
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
   * A connection becomes idle only after the event loop has read from all sockets once more, so that bytes behind an
   * answer are seen before another request is written. Immediates run before the sockets are read: it takes two.
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

  /** An upstream that answers without being asked could answer one caller with what belongs to another. */
  surplus({ origin, served }: Connection): void {
    const now = performance.now();
    // While connections are not reused, surplus bytes of one that served a single request can mislead nobody.
    const isNews = served > 1 || !this.#trust.isDistrusted(origin, now);
    this.#trust.distrust(origin, now);
    this.dropIdle(origin);
    const seconds = Math.round(this.#distrustMs / 1000);
    if (isNews)
      this.#onAlert(
        `${origin.host} sent bytes that answer no request; its connections are closed, and not reused for ${seconds} s`,
      );
  }

  #startSweeper(): ReturnType<typeof setInterval> {
    const sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS);
    sweeper.unref();
    return sweeper;
  }

  /** Gives up connections that were not made in time, and those that were idle too long. */
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

/** What would end a header line early, or cannot be written in Latin-1. */
const UNWRITABLE = /[\r\n\0]|[^\x00-\xff]/;

function writeHead({ headers, body }: UpstreamRequest, origin: Origin, target: string): string {
  let head = `POST ${target} HTTP/1.1\r\nhost: ${origin.host}\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (UNWRITABLE.test(value))
      throw new HttpError("EINVAL", `The header ${name} holds characters that cannot be sent.`, "connect");
    head += `${name}: ${value}\r\n`;
  }
  let length = 0;
  for (const piece of body) length += piece.length;
  return `${head}content-length: ${length}\r\n\r\n`;
}
