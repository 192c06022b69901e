/** The loop of a gateway with two workers, with tools of a real server of MCP: answers, and a worker that is killed while a tool runs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve, until } from "../../../../../test/helpers/serving.ts";
import { type Model, startModel } from "./model.ts";

setDefaultTimeout(120_000);

const called: string[] = [];
/** Calls of `wait` that run. */
let waiting = 0;

/** A modern server with two tools: one answers, the other never does. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as {
      id?: number;
      method: string;
      params: { name: string; arguments: { word: string } };
    };
    if (id === undefined) return new Response(null, { status: 202 });
    const answer = (result: object) =>
      Response.json({
        jsonrpc: "2.0",
        id,
        result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result },
      });
    if (method === "server/discover")
      return answer({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    const inputSchema = { type: "object", properties: { word: { type: "string" } } };
    if (method === "tools/list")
      return answer({ tools: ["find", "wait"].map((name) => ({ name, inputSchema })) });
    if (method !== "tools/call")
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }, { status: 404 });
    called.push(params.name);
    if (params.name === "wait") {
      waiting++;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      waiting--;
    }
    return answer({ content: [{ type: "text", text: `found ${params.arguments.word}` }] });
  },
});

let gateway: Serving;
let model: Model;
let tool = "find";

beforeAll(async () => {
  model = startModel(({ results }) =>
    results.length === 0
      ? { text: "I look.", calls: [{ name: `shop__${tool}`, input: { word: "tea" } }] }
      : { text: `I know: ${results.at(-1)}` },
  );
  gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      log: { format: "json" },
      providers: model.providers,
      prices: { "messages/*": { input: 0, output: 0, request: 1 } },
      budgets: { turns: { on: { model: "messages/*" }, limit: 4, every: "total", mode: "hard" } },
      tools: {
        servers: { shop: { url: `http://127.0.0.1:${server.port}/mcp`, allow: ["*"], era: "modern" } },
      },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  model.stop();
  await server.stop(true);
});

const ask = (stream = false) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "shop", connection: "close" },
    body: JSON.stringify({ model: "messages/m", messages: [{ role: "user", content: "tea?" }], stream }),
  });

test("runs a tool of the server, on either worker", async () => {
  const answer = await ask();
  expect([answer.status, answer.headers.get("x-weir-tools-run")]).toEqual([200, "1"]);
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "I know: found tea" } }] });
  expect(called).toEqual(["find"]);
});

test("a client that leaves stops the tool at the server", async () => {
  tool = "wait";
  const leaving = new AbortController();
  const { body } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "shop" },
    body: JSON.stringify({
      model: "messages/m",
      messages: [{ role: "user", content: "tea?" }],
      stream: true,
    }),
    signal: leaving.signal,
  });
  const reading = new Response(body).text().catch(() => {});
  expect(await until(() => waiting === 1, 10_000)).toBeTrue();
  leaving.abort();
  await reading;
  expect(await until(() => waiting === 0, 5_000)).toBeTrue();
});

test("a worker that is killed while a tool runs leaves books that hold, and the budget holds", async () => {
  const asked = ask(true).then((answer) => answer.text());
  const failed = asked.catch((thrown: unknown) => thrown);
  expect(await until(() => waiting === 1, 10_000)).toBeTrue();
  for (const pid of gateway.workers()) process.kill(pid, "SIGKILL");
  await failed;
  expect(await until(() => waiting === 0, 10_000)).toBeTrue();
  // Four turns were paid: two of the first answer, one of each that was stopped.
  const statusOf = () =>
    ask().then(
      ({ status }) => status,
      () => 0,
    );
  let status = 0;
  await until(async () => (status = await statusOf()) > 0, 30_000);
  expect(status).toBe(429);
  expect(model.heard.length).toBe(4);
  const { code, output } = await gateway.runBeside("audit");
  expect([code, output]).toEqual([0, expect.any(String)]);
});
