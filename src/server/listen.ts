/** The socket: where the app meets Bun's server, with its time limits replaced by the gateway's own. */
import type { Secret } from "../core/secret.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";

export interface ListenOptions {
  host: string;
  port: number;
  /** Several processes listen on the port, and the system spreads connections over them (Linux). */
  shared: boolean;
  fetch(request: Request): Response | Promise<Response>;
  onFault(fault: unknown): Response;
  /** A unix socket instead of host and port. */
  unix?: { path: string; mode: number };
  /** PEM texts; without them the gateway listens in plain text. */
  certificate?: { cert: string; key: Secret };
}

/**
 * Seconds a connection stays open on which nothing happens; longer than a stalled upload is waited for, so that its
 * client is told why.
 */
const IDLE_SECONDS = 65;

/** How long two servers listen on one port while the certificate is replaced. Milliseconds. */
const HANDOVER_MS = 100;

/** What listens, and through it what a request's connection tells and takes. */
export class Listener {
  readonly #options: ListenOptions;
  #server: Server;
  /** Servers with an earlier certificate, until the last of their calls has ended. */
  readonly #earlier = new Set<Server>();

  /** @throws Error with one sentence when the address cannot be listened on. */
  constructor(options: ListenOptions) {
    this.#server = listen(options);
    this.#options = { ...options, port: this.port };
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /** Address of the client; empty when it is gone. */
  addressOf(request: Request): string {
    return this.#server.requestIP(request)?.address ?? "";
  }

  /** Whether the connection of a running request may be silent for as long as it likes: a quiet upstream is no idle client. */
  allowSilence(request: Request, allowed: boolean): void {
    this.#server.timeout(request, allowed ? 0 : IDLE_SECONDS);
  }

  /**
   * Closes the connection of a running request within four seconds, which is how often the runtime looks at its time
   * limits. It is closed in mid-answer but in order (FIN): a reset would discard what the client has received and not read.
   */
  disconnect(request: Request): void {
    this.#server.timeout(request, 1);
  }

  /**
   * Takes new connections with another certificate; those that are open keep theirs until their calls have ended. Bun
   * cannot replace the certificate of a server, so a second one listens on the port before the first one stops.
   * @throws Error with one sentence, and everything stays as it was
   */
  renew(certificate: ListenOptions["certificate"]): void {
    const earlier = this.#server;
    this.#server = listen({ ...this.#options, certificate });
    this.#earlier.add(earlier);
    // What the system has queued for the earlier server is accepted first: a server that stops resets its queue.
    const stop = () => void earlier.stop().then(() => this.#earlier.delete(earlier));
    setTimeout(stop, HANDOVER_MS).unref();
  }

  /** Refuses new connections. @param now cuts what still runs @returns when the last connection has closed */
  async stop(now: boolean): Promise<void> {
    await Promise.all([this.#server, ...this.#earlier].map((server) => server.stop(now)));
  }
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
    // The limits are the gateway's own, so that an error is in the caller's dialect.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    // The default page shows messages and source.
    development: false,
    fetch: (request: Request) => fetch(request),
    error: onFault,
  };
  if (unix) {
    // The runtime takes the idle timeout here too; its types do not say so.
    const { idleTimeout, ...common } = options;
    const socket = { ...common, unix: unix.path };
    Object.assign(socket, { idleTimeout });
    return withMode(unix.mode, () => Bun.serve(socket));
  }
  return Bun.serve({
    ...options,
    hostname: host,
    port,
    reusePort: shared || certificate !== undefined,
    ...(certificate && { tls: { cert: certificate.cert, key: certificate.key.reveal() } }),
  });
}

/** Makes a file with exactly these rights, from its first moment on. */
function withMode<Value>(mode: number, make: () => Value): Value {
  const umask = process.umask(0o777 & ~mode);
  try {
    return make();
  } finally {
    process.umask(umask);
  }
}

/** Why the system refused to listen on an address, as a sentence for the operator. */
export function listenFault(
  error: unknown,
  { host, port, unix }: Pick<ListenOptions, "host" | "port" | "unix">,
): string {
  if (unix) return `the socket ${unix.path} cannot be made (${describeFileError(error)})`;
  const code = systemCode(error);
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is in use; choose another with --port`,
    EACCES: `port ${port} of ${host} may not be used by this user (ports below 1024 belong to root); choose another with --port`,
    EADDRNOTAVAIL: `this machine has no address ${host}; choose another with --host`,
    EAFNOSUPPORT: `this machine does not support addresses like ${host}; choose another with --host`,
    EINVAL: `host ${host} cannot be listened on; a link-local address needs its interface, such as fe80::1%eth0`,
    EMFILE: `weir cannot listen on port ${port} of ${host}: too many files are open`,
  };
  return reasons[code ?? ""] ?? `weir cannot listen on port ${port} of ${host} (${code ?? "unknown reason"})`;
}
