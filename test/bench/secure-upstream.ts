/** An upstream behind TLS, for comparing clients. `bun secure-upstream.ts PORT KEY CERTIFICATE` */
const [port, key, certificate] = process.argv.slice(2);
const answer = JSON.stringify({
  id: "bench",
  choices: [{ message: { role: "assistant", content: "x".repeat(700) } }],
});

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  tls: { key: Bun.file(key!), cert: Bun.file(certificate!) },
  async fetch(request) {
    await request.arrayBuffer();
    return new Response(answer, { headers: { "content-type": "application/json" } });
  },
});
