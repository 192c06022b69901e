/**
 * Runs a client, and notes the bytes of each answer that it gets from the gateway at WEIR_URL.
 *
 *     bun witness.ts PORT FILE COMMAND…
 */
const [port, file, ...command] = process.argv.slice(2);
const gateway = process.env["WEIR_URL"]!;
const answers: string[] = [];

const server = Bun.serve({
  port: Number(port),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.delete("host");
    headers.set("accept-encoding", "identity");
    const body = request.method === "GET" ? undefined : await request.arrayBuffer();
    const answer = await fetch(gateway + pathname + search, { method: request.method, headers, body });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (request.method === "POST") {
      const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
      answers.push(`${pathname} ${answer.status} ${bytes.length} ${digest}`);
    }
    return new Response(bytes, { status: answer.status, headers: withoutFraming(answer.headers) });
  },
});

const client = Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"] });
const code = await client.exited;
await Bun.write(file!, JSON.stringify(answers.sort()));
await server.stop(true);
process.exit(code);

function withoutFraming(given: Headers): Headers {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding", "connection"])
    headers.delete(name);
  return headers;
}

export {};
