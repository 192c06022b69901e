/** What `Bun.serve` costs against HTTP by hand on `Bun.listen`: `bun test/bench/runtime/server.ts`. */
import type { Socket } from "bun";
import { compare, END, handled } from "./compare.ts";

const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${END.length}\r\n\r\n${END}`;

/** Answers as soon as head and body of a request have come. Knows nothing else of HTTP. */
function answer(socket: Socket, bytes: Buffer): void {
  const text = bytes.toString("latin1");
  const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
  if (text.length >= text.indexOf("\r\n\r\n") + 4 + length) socket.write(ANSWER);
}

const headers = { "content-type": "application/json" };

await compare("a server that answers", {
  "by hand, on `Bun.listen`": () => Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: answer } }),
  "`Bun.serve` with a route of a static Response": () =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      routes: { "/v1/chat/completions": new Response(END, { headers }) },
    }),
  "`Bun.serve`, a handler": handled(() => new Response(END, { headers })),
  "`Bun.serve`, a handler that reads the body": handled(async (request) => {
    await request.bytes();
    return new Response(END, { headers });
  }),
  "the same, with one header read and two set": handled(async (request) => {
    request.headers.get("authorization");
    await request.bytes();
    const response = new Response(END, { headers });
    response.headers.set("x-request-id", "req");
    response.headers.set("request-id", "req");
    return response;
  }),
  "the same, with a listener on `request.signal`": handled(async (request) => {
    request.headers.get("authorization");
    request.signal.addEventListener("abort", () => {});
    await request.bytes();
    const response = new Response(END, { headers });
    response.headers.set("x-request-id", "req");
    response.headers.set("request-id", "req");
    return response;
  }),
});
