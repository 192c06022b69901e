/** Listens with Bun's server, whose limits weir replaces by its own. */
import type { Secret } from "../core/secret.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { inTurns } from "./turns.ts";
import { type OpenedSocket, socketHandlers, type SocketData } from "./web-sockets.ts";

export interface ListenOptions {
  host: string;
  port: number;
  /** Several processes listen on the port, and the system distributes connections (Linux). */
  shared: boolean;
  fetch(request: Request): Response | Promise<Response>;
  onFault(fault: unknown): Response;
  /** A unix socket instead of host and port. */
  unix?: { path: string; mode: number };
  /** PEM texts; without them weir listens without TLS. */
  certificate?: { cert: string; key: Secret };
}

/**
 * Idle timeout of a client connection, in seconds; longer than the limit for a stalled upload, so that its client receives an
 * error.
 */
const IDLE_SECONDS = 65;

/**
 * A client that has kept a connection because an answer said so may send its next request in this time; it is answered, and is the
 * last one. Longer than the idle time of the proxies for which weir has files. Milliseconds.
 */
const LINGER_MS = 2_500;
const LOOK_MS = 50;

/** How long two servers listen on the port while weir replaces the certificate. Milliseconds. */
const HANDOVER_MS = 100;

/** The listening server, with access to the connections of its requests. */
export class Listener {
  readonly #options: ListenOptions;
  #server: Server;
  /** Servers with an earlier certificate, until their last call has ended. */
  readonly #earlier = new Set<Server>();
  #isLeaving = false;
  /** Answers run that have told their clients to keep the connection. */
  #isBusy = false;
  #isOver = false;
  readonly #port: number;

  /** @throws Error with one sentence if weir cannot listen on the address */
  constructor(given: ListenOptions) {
    const fetch = (request: Request) =>
      this.#isLeaving ? lastOf(given.fetch(request)) : given.fetch(request);
    const options = { ...given, fetch };
    this.#server = listen(options);
    this.#port = this.#server.port ?? 0;
    this.#options = { ...options, port: this.#port };
  }

  get port(): number {
    return this.#port;
  }

  /** Address of the client; empty after it has disconnected. */
  addressOf(request: Request): string {
    return this.#server.requestIP(request)?.address ?? "";
  }

  /** Turns the idle timeout of a running request's connection off or on: a slow provider must not count as an idle client. */
  allowSilence(request: Request, allowed: boolean): void {
    this.#server.timeout(request, allowed ? 0 : IDLE_SECONDS);
  }

  /** Answers a request by a WebSocket. @returns whether it asks for one */
  upgrade(request: Request, protocol: string | undefined, opened: OpenedSocket): boolean {
    const headers: Record<string, string> =
      protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
    return this.#servers.some((server) => server.upgrade(request, { headers, data: { opened } }));
  }

  /**
   * Closes the connection of a running request within four seconds, the interval at which the runtime checks its timeouts. It
   * closes with FIN during the answer: a reset could discard bytes that the client has received and not yet read.
   */
  disconnect(request: Request): void {
    this.#server.timeout(request, 1);
  }

  /**
   * Uses another certificate for new connections; open ones keep theirs until their calls have ended. Bun cannot replace the
   * certificate of a server, so a second server listens on the port before the first one stops.
   * @throws Error with one sentence; the earlier server then stays
   */
  renew(certificate: ListenOptions["certificate"]): void {
    const earlier = this.#server;
    this.#server = listen({ ...this.#options, certificate });
    this.#earlier.add(earlier);
    // The earlier server first accepts the connections in its queue: a server that stops resets them.
    const stop = () => void earlier.stop().then(() => this.#earlier.delete(earlier));
    setTimeout(stop, HANDOVER_MS).unref();
  }

  /** From now on each answer is the last one of its connection: the client opens the next one at another process. */
  leave(): void {
    if (!this.#isLeaving) this.#isBusy = this.#pending > 0;
    this.#isLeaving = true;
  }

  /** Refuses new connections. @param now aborts running requests @returns when the last connection has closed */
  async stop(now: boolean): Promise<void> {
    this.leave();
    this.#isOver ||= now;
    if (!this.#isOver && this.#isBusy) await this.#linger();
    await Promise.all(this.#servers.map((server) => server.stop(now)));
  }

  /** Waits for the next request of clients whose connections were to stay, until all are gone. */
  async #linger(): Promise<void> {
    if (this.#options.unix) return;
    const { hasConnections, stopListening } = await import("../process/listeners.ts");
    if (!(await stopListening(this.#port))) return;
    for (let idle = 0; idle < LINGER_MS && !this.#isOver; idle = this.#pending > 0 ? 0 : idle + LOOK_MS) {
      if (this.#pending === 0 && !hasConnections(this.#port)) return;
      await Bun.sleep(LOOK_MS);
    }
  }

  get #pending(): number {
    return this.#servers.reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
  }

  get #servers(): Server[] {
    return [this.#server, ...this.#earlier];
  }
}

async function lastOf(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set("connection", "close");
  return response;
}

type Server = ReturnType<typeof serve>;

function listen(options: ListenOptions): Server {
  try {
    return serve(options);
  } catch (error) {
    throw new Error(listenFault(error, options), { cause: error });
  }
}

function serve({ host, port, shared, certificate, unix, fetch, onFault }: ListenOptions) {
  const options = {
    // weir has a limit of its own, whose error has the client's format.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    // The development error page would show messages and source code.
    development: false,
    websocket: socketHandlers,
    fetch: inTurns(fetch),
    error: onFault,
  };
  if (unix) {
    // The runtime accepts the idle timeout here too, but its types lack it.
    const { idleTimeout, ...common } = options;
    const socket = { ...common, unix: unix.path };
    Object.assign(socket, { idleTimeout });
    return withMode(unix.mode, () => Bun.serve<SocketData>(socket));
  }
  return Bun.serve<SocketData>({
    ...options,
    hostname: host,
    port,
    reusePort: shared || certificate !== undefined,
    ...(certificate && { tls: { cert: certificate.cert, key: certificate.key.reveal() } }),
  });
}

/** Creates a file with these permissions from its creation on. */
function withMode<Value>(mode: number, make: () => Value): Value {
  const umask = process.umask(0o777 & ~mode);
  try {
    return make();
  } finally {
    process.umask(umask);
  }
}

/** Why weir cannot listen on an address, as a clause for the operator. */
export function listenFault(
  error: unknown,
  { host, port, unix }: Pick<ListenOptions, "host" | "port" | "unix">,
): string {
  if (unix) return `weir cannot create the socket ${unix.path} (${describeFileError(error)})`;
  const code = systemCode(error);
  const absent = `this machine has no address ${host}; choose another with --host`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is in use; choose another with --port`,
    EACCES: `port ${port} of ${host} may not be used by this user (ports below 1024 belong to root); choose another with --port`,
    EADDRNOTAVAIL: absent,
    EAFNOSUPPORT: `this machine does not support addresses like ${host}; choose another with --host`,
    // A name that has no address fails with either code, as the resolver of the system has it.
    EINVAL: host.includes(":")
      ? `weir cannot listen on host ${host}; a link-local address needs its interface, such as fe80::1%eth0`
      : absent,
    EMFILE: `weir cannot listen on port ${port} of ${host}: too many files are open`,
  };
  return reasons[code ?? ""] ?? `weir cannot listen on port ${port} of ${host} (${code ?? "unknown reason"})`;
}
