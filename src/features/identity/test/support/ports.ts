/** A free port: the address of a listener is in its own config. */
export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = server.port!;
  void server.stop(true);
  return port;
}
