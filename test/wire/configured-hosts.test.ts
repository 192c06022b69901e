/** Hosts that the config or the vendor's own variables describe, without a plugin. */
import { afterEach, expect, test } from "bun:test";
import { type GatewayOptions, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

function host(): Upstream {
  const upstream = startUpstream((request) => {
    if (request.path.endsWith("/models")) return json({ data: [{ id: "listed" }] });
    const message = { role: "assistant", content: "ok" };
    if (request.path.endsWith("/messages"))
      return json({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "text", text: "ok" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    return json({ id: "c", model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] });
  });
  stops.push(() => upstream.stop());
  return upstream;
}

async function start(options: GatewayOptions): Promise<RunningGateway> {
  const gateway = await startGateway(options);
  stops.push(() => gateway.stop());
  return gateway;
}

const ask = (gateway: RunningGateway, model: string) =>
  anthropicClient(gateway.url).messages.create({
    model,
    max_tokens: 9,
    messages: [{ role: "user", content: "hi" }],
  });

test("a provider from weir.yaml alone", async () => {
  const upstream = host();
  const gateway = await start({
    env: { ACME_KEY: "sk-acme-123456" },
    config: {
      providers: {
        acme: {
          speaks: "chat-completions",
          baseUrl: `${upstream.url}/v1`,
          apiKey: "${ACME_KEY}",
          models: ["acme-1", "acme-next-*"],
        },
        other: { speaks: "messages", baseUrl: upstream.url, apiKey: "sk-other-123456" },
        both: { speaks: ["messages", "chat-completions"], baseUrl: `${upstream.url}/v1` },
      },
    },
  });
  for (const model of ["acme-1", "acme-next-2", "acme/anything"]) {
    await ask(gateway, model);
    const request = upstream.requests.at(-1)!;
    expect([request.path, request.headers.get("authorization")]).toEqual([
      "/v1/chat/completions",
      "Bearer sk-acme-123456",
    ]);
  }
  await ask(gateway, "other/m");
  expect(upstream.requests.at(-1)!.path).toBe("/v1/messages");
  expect(upstream.requests.at(-1)!.headers.get("x-api-key")).toBe("sk-other-123456");
  await ask(gateway, "both/m");
  expect(upstream.requests.at(-1)!.path).toBe("/v1/messages");
  const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { id: string }[] };
  const ids = data.map(({ id }) => id);
  expect(ids).toContain("acme-1");
  // Those that name no models are asked for theirs.
  expect(ids).toContain("listed");
}, 600_000);

test("a format that does not exist, and a provider without one, stop the start", async () => {
  const fault = (acme: object) =>
    startGateway({ config: { providers: { acme } } }).then(
      (gateway) => gateway.stop(),
      (error: unknown) => String(error),
    );
  expect(await fault({ speaks: "chat", baseUrl: "http://127.0.0.1:1" })).toMatch(
    /"acme".*"chat".*chat-completions/,
  );
  expect(await fault({ baseUrl: "http://127.0.0.1:1" })).toContain("no plugin defines a provider named acme");
}, 600_000);

test("OLLAMA_HOST says where Ollama is, in each way its own tools take", async () => {
  const upstream = host();
  for (const value of [
    `127.0.0.1:${upstream.port}`,
    `:${upstream.port}`,
    `0.0.0.0:${upstream.port}`,
    `http://127.0.0.1:${upstream.port}/`,
  ]) {
    const gateway = await start({ env: { OLLAMA_HOST: value } });
    const before = upstream.requests.length;
    await ask(gateway, "ollama/m");
    expect(upstream.requests.slice(before).map(({ path }) => path)).toContain("/v1/messages");
  }
  expect(
    await startGateway({ env: { OLLAMA_HOST: "http://" } }).then((gateway) => gateway.stop(), String),
  ).toContain("OLLAMA_HOST");
}, 600_000);

test("User-Agent and Authorization of the config's headers are sent", async () => {
  const upstream = host();
  const gateway = await start({
    config: {
      providers: {
        openai: {
          baseUrl: `${upstream.url}/v1`,
          liveModels: true,
          headers: { "User-Agent": "acme/1", Authorization: "Basic c2VjcmV0OnNlY3JldA==" },
        },
      },
    },
  });
  await ask(gateway, "openai/m");
  await fetch(`${gateway.url}/v1/models`);
  expect(upstream.requests.map(({ path }) => path).toSorted()).toEqual([
    "/v1/chat/completions",
    "/v1/models",
  ]);
  for (const { headers } of upstream.requests)
    expect([headers.get("user-agent"), headers.get("authorization")]).toEqual([
      "acme/1",
      "Basic c2VjcmV0OnNlY3JldA==",
    ]);
}, 600_000);

test("a header that weir would not send as it is stops the start", async () => {
  const fault = (settings: object) =>
    startGateway({
      config: { providers: { openai: { baseUrl: "http://127.0.0.1:1/v1", ...settings } } },
    }).then(
      (gateway) => gateway.stop(),
      (error: unknown) => String(error),
    );
  expect(await fault({ apiKey: "sk-123456", headers: { Authorization: "Bearer other" } })).toContain(
    "remove one of them",
  );
  expect(await fault({ apiKey: "sk-123456", headers: { Accept: "text/plain" } })).toContain("Accept");
  // Beside another kind of credential it is a header like any other.
  const gateway = await start({
    config: {
      providers: {
        anthropic: {
          baseUrl: "http://127.0.0.1:1",
          apiKey: "sk-ant-123456",
          headers: { Authorization: "Bearer x" },
        },
      },
    },
  });
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
}, 600_000);
