/** The socket: where the app meets Bun's server, with its time limits replaced by the gateway's own. */
import { systemCode } from "../core/system-error.ts";

export interface ListenOptions {
  host: string;
  port: number;
  /** Several processes listen on the port, and the system spreads connections over them (Linux). */
  shared: boolean;
  fetch(request: Request): Response | Promise<Response>;
  onFault(fault: unknown): Response;
}

/**
 * Seconds a connection stays open on which nothing happens; longer than a stalled upload is waited for, so that its
 * client is told why.
 */
const IDLE_SECONDS = 65;

/** @throws Error with one sentence when the address cannot be listened on. */
export function listen(options: ListenOptions) {
  try {
    return serve(options);
  } catch (error) {
    throw new Error(listenFault(error, options), { cause: error });
  }
}

function serve(options: ListenOptions) {
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: options.shared,
    // The limits are the gateway's own, so that an error is in the caller's dialect.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    // The default page shows messages and source (runtime 2.2).
    development: false,
    fetch: (request) => options.fetch(request),
    error: options.onFault,
  });
}

/** Why the system refused to listen on an address, as a sentence for the operator. */
export function listenFault(error: unknown, { host, port }: Pick<ListenOptions, "host" | "port">): string {
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

/** Whether the connection of a running request may be silent for as long as it likes: a quiet upstream is no idle client. */
export function allowSilence(server: Listener | undefined, request: Request, allowed: boolean): void {
  server?.timeout(request, allowed ? 0 : IDLE_SECONDS);
}

/**
 * Closes the connection of a running request within four seconds, which is how often the runtime looks at its time limits.
 * It is closed in mid-answer but in order (FIN): a reset would discard what the client has received and not read.
 */
export function disconnect(server: Listener | undefined, request: Request): void {
  server?.timeout(request, 1);
}

export type Listener = ReturnType<typeof listen>;
