/** The socket: where the app meets Bun's server, with its time limits replaced by the gateway's own. */
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

export function listen(options: ListenOptions) {
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

/** Whether the connection of a running request may be silent for as long as it likes: a quiet upstream is no idle client. */
export function allowSilence(server: Listener | undefined, request: Request, allowed: boolean): void {
  server?.timeout(request, allowed ? 0 : IDLE_SECONDS);
}

export type Listener = ReturnType<typeof listen>;
