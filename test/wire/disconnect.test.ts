/** Clients that leave: the upstream is stopped at once, and none is left open. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import {
  endless,
  silence,
  sse,
  startUpstream,
  until,
  type Upstream,
  type UpstreamRequest,
} from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => sse(endless(PIECE, 5)));
  gateway = await startGateway({
    config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
    plugins: { "relay.ts": relayPlugin(upstream.url) },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const PIECE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "piece " }, finish_reason: null }] })}\n\n`;

/** A piece of an answer in the messages format. */
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** A program that has an upstream of its own, which it stops as plugins are told to: with the signal of the call. */
function relayPlugin(url: string): string {
  return `import { definePlugin, type Call, type ChatEvent, type ChatRequest } from "weir";
    async function* generate(request: ChatRequest, call: Call): AsyncGenerator<ChatEvent> {
      yield { type: "message-start", id: "relay", model: request.model };
      yield { type: "block-start", index: 0, block: { type: "text" } };
      const response = await fetch("${url}/relay", { method: "POST", body: JSON.stringify(request.turns), signal: call.signal });
      for await (const piece of response.body!) yield { type: "block-delta", index: 0, delta: String(piece.length) };
    }
    export default definePlugin({ name: "relay", providers: [{ name: "relay", generate }] });`;
}

/** `client` stands in the prompt, so that the upstream's request can be told from the others. */
function post(path: string, model: string, client = 0, stream = true): string {
  const content = `go ${client}.`;
  const body = JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: "user", content }] });
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** A raw client, so that it can leave by a reset as well as in good order. */
function open(request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, "127.0.0.1", () => {
      socket.write(request);
      resolve(socket);
    });
    socket.on("error", reject);
    socket.on("data", () => {});
  });
}

function leave(socket: Socket, how: "fin" | "rst"): number {
  socket.removeAllListeners("error");
  socket.on("error", () => {});
  const at = performance.now();
  if (how === "rst") socket.resetAndDestroy();
  else socket.destroy();
  return at;
}

/** Clients that are there at a time. */
const AT_ONCE = 25;
let clients = 0;

/**
 * Lets clients come and leave. Three of four leave within 18 ms after their request has reached the upstream, the fourth at
 * any moment before; others before them warm the code up.
 * @returns milliseconds from a client's leaving to its upstream's close, sorted; clients that left too early to reach
 * the upstream have none.
 */
async function measure(cuts: number, how: "fin" | "rst", path: string, model: string): Promise<number[]> {
  await leaveMany(8 * AT_ONCE, how, path, model);
  const times = await leaveMany(cuts, how, path, model);
  expect(times.length).toBeGreaterThan(cuts / 2);
  return times;
}

async function leaveMany(cuts: number, how: "fin" | "rst", path: string, model: string): Promise<number[]> {
  const first = clients + 1;
  const before = upstream.requests.length;
  const leftAt = new Map<number, number>();
  const arrived = new Set<number>();
  let read = before;
  const hasArrived = (client: number) => {
    for (; read < upstream.requests.length; read++) arrived.add(clientOf(upstream.requests[read]!));
    return arrived.has(client);
  };
  const comeAndGo = async () => {
    while (clients < first + cuts - 1) {
      const client = ++clients;
      const socket = await open(post(path, model, client));
      const patience = performance.now() + 2_000;
      while (client % 4 !== 0 && !hasArrived(client) && performance.now() < patience) await Bun.sleep(1);
      await Bun.sleep(Math.random() * 18);
      leftAt.set(client, leave(socket, how));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, comeAndGo));
  expect(leftAt.size).toBe(cuts);
  await upstream.quiet();
  const reached = upstream.requests.slice(before);
  return reached.map((request) => request.settledAt! - leftAt.get(clientOf(request))!).sort((a, b) => a - b);
}

function clientOf(request: UpstreamRequest): number {
  return Number(/go (\d+)\./.exec(request.body.toString())?.[1]);
}

function report(name: string, times: number[]): void {
  const quantile = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
  console.log(
    `${name}: ${times.length} cuts, p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, none left open`,
  );
}

describe("native lane", () => {
  for (const how of ["fin", "rst"] as const) {
    test(`500 clients leave at random moments of a stream, by ${how}`, async () => {
      upstream.answer(() => sse(endless(PIECE, 5)));
      const times = await measure(500, how, "/v1/chat/completions", "openai/m");
      report(`mid-stream, ${how}`, times);
      expect(upstream.open).toBe(0);
    }, 600_000);

    test(`100 clients leave before the head, by ${how}`, async () => {
      upstream.answer(silence);
      const times = await measure(100, how, "/v1/chat/completions", "openai/m");
      report(`before the head, ${how}`, times);
      expect(upstream.open).toBe(0);
    }, 600_000);
  }

  test("messages: 100 clients leave in mid-stream", async () => {
    upstream.answer(() => sse(endless(PING, 5)));
    const times = await measure(100, "rst", "/v1/messages", "anthropic/m");
    report("messages, rst", times);
    expect(upstream.open).toBe(0);
  }, 600_000);

  test("a client of a JSON answer that leaves stops the upstream too", async () => {
    upstream.answer(silence);
    const before = upstream.requests.length;
    const socket = await open(post("/v1/chat/completions", "openai/m", 0, false));
    await upstream.arrived(before + 1);
    leave(socket, "fin");
    await upstream.quiet();
  });
});

test("translated lane: 100 clients leave in mid-stream", async () => {
  upstream.answer(() => sse(endless(PIECE, 5)));
  const times = await measure(100, "rst", "/v1/messages", "openai/m");
  report("translated, rst", times);
  expect(upstream.open).toBe(0);
}, 600_000);

test("generated lane: 100 clients of a program with an upstream of its own leave", async () => {
  upstream.answer(() => sse(endless(PIECE, 5)));
  for (const how of ["fin", "rst"] as const) {
    const times = await measure(50, how, "/v1/chat/completions", "relay/m");
    report(`generated, ${how}`, times);
    expect(upstream.open).toBe(0);
  }
}, 600_000);

test("generated lane: the program is stopped, and the log says the client left", async () => {
  const before = gateway.log.filter((line) => line.includes('"outcome":"cancelled"')).length;
  const sockets = await Promise.all(
    Array.from({ length: 20 }, () => open(post("/v1/messages", "mock/pace-20"))),
  );
  await Bun.sleep(50);
  for (const socket of sockets) leave(socket, "rst");
  const cancelled = () =>
    gateway.log.filter((line) => line.includes('"outcome":"cancelled"')).length - before;
  await until(
    () => cancelled() >= 20,
    3_000,
    () => `${cancelled()} of 20 calls were logged as cancelled`,
  );
});

test("a client that reads nothing holds the upstream back, and is no loss when it leaves", async () => {
  let sent = 0;
  const big = PIECE.replace("piece ", "x".repeat(64 * 1024));
  function* count() {
    for (; sent < 20_000; sent++) yield big;
  }
  upstream.answer(() => sse(count()));
  const socket = await open(post("/v1/chat/completions", "openai/m"));
  socket.pause();
  await Bun.sleep(1_500);
  const heldAt = sent;
  await Bun.sleep(500);
  expect(sent - heldAt).toBeLessThan(200);
  expect(sent).toBeLessThan(2_000);
  leave(socket, "rst");
  await upstream.quiet();
}, 600_000);
