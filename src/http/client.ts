/**
 * A strict HTTP/1.1 client on the runtime's sockets: connections are kept by origin and reused, newest first, one request
 * at a time on each. It exists because `fetch` costs more than the rest of the gateway together and gives up keeping
 * connections past some dozens. What it leaves out on purpose: redirects, cookies, pipelining, upgrades.
 */
import { Connection, type Keeper } from "./connection.ts";
import { HttpError } from "./error.ts";
import { Exchange } from "./exchange.ts";
import { addressOf, type Origin } from "./origin.ts";
import type { Transport, UpstreamRequest } from "./types.ts";

export interface HttpClientOptions {
  /** Longest time to connect, the TLS handshake included. Milliseconds. */
  connectMs?: number;
  /** Longest time a connection is kept idle. Milliseconds. */
  idleMs?: number;
}

const SWEEP_MS = 500;
/** A connection is given up this long before the other side would close it. Milliseconds. */
const MARGIN_MS = 1_000;

export class HttpClient implements Keeper {
  readonly #connectMs: number;
  readonly #idleMs: number;
  readonly #idle = new Map<Origin, Connection[]>();
  readonly #open = new Set<Connection>();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor({ connectMs = 10_000, idleMs = 60_000 }: HttpClientOptions = {}) {
    this.#connectMs = connectMs;
    this.#idleMs = idleMs;
  }

  /** @throws HttpError, or the reason why it was stopped */
  readonly request: Transport = (request) => {
    if (request.stop.aborted) return Promise.reject(request.stop.reason);
    const { origin, target } = addressOf(request.url);
    const exchange = new Exchange(writeHead(request, origin, target), request.body, request.stop);
    const kept = this.#take(origin);
    if (kept) kept.carry(exchange);
    else this.#connect(origin, exchange, request.connectMs ?? this.#connectMs);
    return exchange.response;
  };

  /** Open connections, idle ones among them. */
  get size(): number {
    return this.#open.size;
  }

  /** Closes all connections; running exchanges fail. */
  close(): void {
    for (const connection of this.#open)
      connection.fail(new HttpError("ECONNRESET", "The client was closed.", true));
  }

  #take(origin: Origin): Connection | undefined {
    const idle = this.#idle.get(origin);
    for (let kept = idle?.pop(); kept; kept = idle?.pop())
      if (!kept.closed && this.#isFresh(kept, performance.now())) return kept;
      else kept.destroy();
    return undefined;
  }

  #isFresh(kept: Connection, now: number): boolean {
    return now - kept.since < Math.min(this.#idleMs, kept.idleMs - MARGIN_MS);
  }

  #connect(origin: Origin, exchange: Exchange, connectMs: number): void {
    this.#sweeper ??= this.#startSweeper();
    this.#open.add(new Connection(origin, this, exchange, connectMs));
  }

  keep(connection: Connection): void {
    const idle = this.#idle.get(connection.origin);
    if (idle) idle.push(connection);
    else this.#idle.set(connection.origin, [connection]);
  }

  forget(connection: Connection): void {
    this.#open.delete(connection);
    const idle = this.#idle.get(connection.origin);
    const at = idle?.indexOf(connection) ?? -1;
    if (at >= 0) idle!.splice(at, 1);
  }

  distrust(origin: Origin): void {
    for (const connection of [...(this.#idle.get(origin) ?? [])]) connection.destroy();
  }

  #startSweeper(): ReturnType<typeof setInterval> {
    const sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS);
    sweeper.unref();
    return sweeper;
  }

  /** Gives up connections that were not made in time, and those that were idle too long. */
  #sweep(now: number): void {
    for (const connection of this.#open)
      if (connection.connecting && now - connection.since > connection.connectMs)
        connection.fail(
          new HttpError("ETIMEDOUT", `No connection within ${connection.connectMs} ms.`, false),
        );
    for (const idle of this.#idle.values())
      for (const connection of [...idle]) if (!this.#isFresh(connection, now)) connection.destroy();
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
      throw new HttpError("EINVAL", `The header ${name} holds characters that cannot be sent.`, false);
    head += `${name}: ${value}\r\n`;
  }
  let length = 0;
  for (const piece of body) length += piece.length;
  return `${head}content-length: ${length}\r\n\r\n`;
}
