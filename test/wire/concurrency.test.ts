/** The runtime's cap of 256 requests at once is lifted, where the process has replaced itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type RunningGateway, startGateway, TARGET, upstreamConfig } from "../helpers/gateway.ts";
import { sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const STREAMS = 2_000;
const PIECE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "x" }, finish_reason: null }] })}\n\n`;

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => ({ ...sse([PIECE]), ending: "stall" }));
  const config = upstreamConfig({ openai: upstream.url });
  gateway = await startGateway({ config, target: TARGET === "binary" ? "binary" : "process" });
}, 600_000);

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test("2,000 streams are open at once, all of them upstream, and none is left when the clients go", async () => {
  const body = JSON.stringify({
    model: "openai/m",
    stream: true,
    messages: [{ role: "user", content: "x" }],
  });
  const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const started = performance.now();
  let answered = 0;
  const sockets = Array.from({ length: STREAMS }, (): Socket => {
    const socket = connect(gateway.port, "127.0.0.1", () => socket.write(request));
    socket.once("data", () => answered++);
    socket.on("error", () => {});
    return socket;
  });
  await upstream.arrived(STREAMS, 20_000);
  console.log(`${STREAMS} streams reached the upstream in ${Math.round(performance.now() - started)} ms`);
  while (answered < STREAMS && performance.now() - started < 25_000) await Bun.sleep(10);
  expect(answered).toBe(STREAMS);
  expect(upstream.open).toBe(STREAMS);
  for (const socket of sockets) socket.destroy();
  await upstream.quiet(10_000);
  expect(upstream.open).toBe(0);
}, 600_000);
