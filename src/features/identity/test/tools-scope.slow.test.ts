/** Tokens for models alone, and what weir runs for models: tools need a scope of their own, whichever way they are asked for. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { bearer, IDENTITY, SECRET, tokenOf, WEIR } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-key-000001";
const TOOL = { name: "find", inputSchema: { type: "object" } };

/** What reached the server of tools, and the tools that the model got. */
const asked: string[] = [];
const offered: string[] = [];

const server = Bun.serve({
  ...{ port: 0, hostname: "127.0.0.1" },
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method } = (await request.json()) as { id?: number; method: string };
    asked.push(method);
    if (id === undefined) return new Response(null, { status: 202 });
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "shop" },
      },
      "tools/list": { tools: [TOOL] },
    };
    const result = results[method];
    return Response.json({
      jsonrpc: "2.0",
      id,
      ...(result ? { result } : { error: { code: -32601, message: "no" } }),
    });
  },
});

let upstream: Upstream;
let gateway: Serving;

beforeAll(async () => {
  upstream = startUpstream((request) => {
    const { tools = [] } = JSON.parse(String(request.body)) as { tools?: { function: { name: string } }[] };
    offered.push(tools.map((one) => one.function.name).join());
    return json(CHAT_ANSWER);
  });
  const url = `http://127.0.0.1:${server.port}/mcp`;
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      ...{ state: "state", keys: [{ name: "team", key: KEY }] },
      identity: { ...IDENTITY, tokens: { secret: SECRET } },
      providers: {
        host: {
          baseUrl: `${upstream.url}/v1`,
          apiKey: "unused",
          models: ["plain", "handy"],
          speaks: "chat-completions",
        },
      },
      tools: {
        servers: { shop: { url, allow: ["*"] }, zoo: { url, allow: ["*"] } },
        run: { models: { "host/handy": ["shop"] } },
        pin: "off",
      },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  upstream?.stop();
  await server.stop(true);
});

const MESSAGES = [{ role: "user", content: "Is there tea?" }];
const mcp = (url: string) => ({ type: "mcp", server_label: "shop", server_url: url });

/** Requests that name servers, in the words of each format: path, body, and headers beside the credential. */
const WAYS: Readonly<
  Record<string, (at: string) => [path: string, body: object, headers?: Record<string, string>]>
> = {
  "chat-completions": (at) => [
    "/v1/chat/completions",
    { model: "host/plain", messages: MESSAGES, tools: [mcp(at)] },
  ],
  responses: (at) => ["/v1/responses", { model: "host/plain", input: "Is there tea?", tools: [mcp(at)] }],
  messages: (at) => [
    "/v1/messages",
    {
      ...{ model: "host/plain", max_tokens: 100, messages: MESSAGES },
      mcp_servers: [{ type: "url", name: "shop", url: at }],
      tools: [{ type: "mcp_toolset", mcp_server_name: "shop" }],
    },
    { "anthropic-version": "2023-06-01", "anthropic-beta": "mcp-client-2025-11-20" },
  ],
  header: (at) => [
    "/v1/chat/completions",
    { model: "host/plain", messages: MESSAGES },
    { "x-weir-tools": at === "weir" ? "*" : at.slice("weir/".length) },
  ],
  explain: (at) => ["/v1/explain", { model: "host/plain", messages: MESSAGES, tools: [mcp(at)] }],
};

async function send(token: string, way: string, at: string) {
  const [path, body, headers = {}] = WAYS[way]!(at);
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(token), ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Scopes, and the answers for one server, for another one, and for all that the caller may use. */
const SCOPES: readonly [string, [number, number, number]][] = [
  ["models", [403, 403, 403]],
  ["models:host/*", [403, 403, 403]],
  ["models tools", [200, 200, 200]],
  ["models tools:shop", [200, 403, 403]],
];

for (const way of Object.keys(WAYS))
  test.each(SCOPES)(`${way} with a token for %s`, async (scope, expected) => {
    const token = await tokenOf("p1", { scope, audience: WEIR });
    asked.length = offered.length = 0;
    for (const [index, at] of ["weir/shop", "weir/zoo", "weir"].entries()) {
      const { status, text } = await send(token, way, at);
      expect([at, status, text]).toEqual([at, expected[index]!, expect.any(String)]);
      if (status !== 403) continue;
      const path = at === "weir" ? "/mcp" : `/mcp/${at.slice("weir/".length)}`;
      expect(text).toContain(
        `The token is for ${scope}, which does not cover ${path}; get one with the scope tools.`,
      );
      expect(text).toContain(way === "messages" ? "permission_error" : "insufficient_scope");
    }
    if (expected[0] === 403) expect([asked, offered]).toEqual([[], []]);
  });

test("a model to which the config offers tools answers a token for models without them", async () => {
  const ask = async (credential: string) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(credential) },
      body: JSON.stringify({ model: "host/handy", messages: MESSAGES }),
    });
    await answer.text();
    return answer.status;
  };
  offered.length = 0;
  const tokens = await Promise.all(
    ["models", "models tools:shop", "models tools:zoo"].map((scope) => tokenOf("p2", { scope })),
  );
  for (const credential of [...tokens, KEY]) expect(await ask(credential)).toBe(200);
  expect(offered).toEqual(["", "shop__find", "", "shop__find"]);
});
