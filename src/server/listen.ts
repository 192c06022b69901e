/** The socket: where the app meets Bun's server, with its time limits replaced by the gateway's own. */
export interface ListenOptions {
  host: string;
  port: number;
  /** Several processes listen on the port, and the system spreads connections over them (Linux). */
  shared: boolean;
  fetch(request: Request): Response | Promise<Response>;
  onFault(fault: unknown): Response;
}

/** Seconds an idle keep-alive connection stays open. */
const IDLE_SECONDS = 60;

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
    fetch(request, server) {
      // A quiet stream is not an idle connection; the gateway has its own clocks for it.
      if (request.method === "POST") server.timeout(request, 0);
      return options.fetch(request);
    },
    error: options.onFault,
  });
}

export type Listener = ReturnType<typeof listen>;
