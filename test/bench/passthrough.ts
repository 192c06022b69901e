/** What weir is held against: a bare `Bun.serve` that passes bytes on. `bun passthrough.ts PORT UPSTREAM` */
const [port, upstream] = process.argv.slice(2);

Bun.serve({
  port: Number(port),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const body = await request.arrayBuffer();
    const response = await fetch(upstream + new URL(request.url).pathname, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
      signal: request.signal,
    });
    const type = response.headers.get("content-type") ?? "";
    return new Response(response.body, { status: response.status, headers: { "content-type": type } });
  },
});
