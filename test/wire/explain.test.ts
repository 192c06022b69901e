/** `POST /v1/explain`, `weir explain` and `count_tokens`: nobody is called, nothing is hidden but the credentials. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import { FORMATS } from "../../src/cli/command.ts";
import type { ClientCodec, Format } from "../../src/core/format.ts";
import { namesOf } from "../../src/server/choose-format.ts";
import { environmentIn } from "../helpers/environment.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({ input_tokens: 1234 }));
  const config = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
  gateway = await startGateway({ config });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

interface Explained {
  format: string;
  served_by: { provider: string; lane: string; model: string };
  request: { url: string; headers: Record<string, string>; body: Record<string, unknown> } | null;
  losses: { code: string; path: string }[];
}

async function explain(body: object, query = ""): Promise<Explained> {
  const response = await fetch(`${gateway.url}/v1/explain${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  expect(text).not.toContain(UPSTREAM_KEYS.openai);
  expect(text).not.toContain(UPSTREAM_KEYS.anthropic);
  return JSON.parse(text) as Explained;
}

const hi = [{ role: "user", content: "hi" }];

test("the native lane: the client's own body, with the model name exchanged", async () => {
  const body = { model: "openai/gpt-4.1", messages: hi, seed: 7, unknown_member: { x: 1 } };
  const { served_by, request, losses } = await explain(body);
  expect(served_by).toMatchObject({ provider: "openai", lane: "native", model: "gpt-4.1" });
  expect(request?.url).toBe(`${upstream.url}/v1/chat/completions`);
  expect(request?.headers["authorization"]).toBe("Bearer $OPENAI_API_KEY");
  expect(request?.body).toEqual({ ...body, model: "gpt-4.1" });
  expect(losses).toEqual([]);
});

test("the translated lane: the upstream's body, and the losses by path", async () => {
  const body = { model: "claude-opus-4-6", messages: hi, seed: 7, logit_bias: { "50256": -100 } };
  const { served_by, request, losses } = await explain(body);
  expect(served_by).toMatchObject({ provider: "anthropic", lane: "translated" });
  expect(request?.headers["x-api-key"]).toBe("$ANTHROPIC_API_KEY");
  expect(request?.body["messages"]).toMatchObject([{ role: "user" }]);
  expect(request?.body["seed"]).toBeUndefined();
  expect(losses.map(({ code, path }) => `${code}:${path}`)).toEqual(
    expect.arrayContaining(["dropped:seed", "dropped:logit_bias"]),
  );
});

test("explain refuses what the call refuses in strict mode", async () => {
  const body = JSON.stringify({ model: "claude-opus-4-6", messages: hi, seed: 7 });
  const ask = (path: string, strict: string) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-weir-strict": strict },
      body,
    });
  expect((await ask("/v1/explain", "false")).status).toBe(200);
  const [explained, called] = [await ask("/v1/explain", "true"), await ask("/v1/chat/completions", "true")];
  expect([explained.status, called.status]).toEqual([400, 400]);
  expect(await explained.json()).toEqual(await called.json());
});

test("the accept header asks for what the upstream's body asks for, and explain shows it", async () => {
  const ask = async (more: object) => {
    const body = { model: "claude-opus-4-6", messages: hi, ...more };
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((response) => response.text());
    const { headers, body: sent } = upstream.requests.at(-1)!;
    const { request } = await explain(body, "?format=chat-completions");
    expect(request?.headers["accept"]).toBe(headers.get("accept")!);
    expect(request?.headers["accept-encoding"] ?? null).toBe(headers.get("accept-encoding"));
    const { stream } = JSON.parse(sent.toString()) as { stream?: boolean };
    return { stream, accept: headers.get("accept"), encoding: headers.get("accept-encoding") };
  };
  const json = { stream: undefined, accept: "application/json" };
  const streamed = { stream: true, accept: "text/event-stream", encoding: "identity" };
  expect(await ask({ max_tokens: 9 })).toMatchObject(json);
  expect(await ask({ max_tokens: 9, stream: true })).toEqual(streamed);
  // A long answer is asked for as a stream, also for a client that wants JSON.
  expect(await ask({ max_tokens: 9_000 })).toEqual(streamed);
});

test("the losses are those of the call, and strict mode refuses them by name", async () => {
  upstream.answer(() =>
    json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  );
  const send = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "claude-opus-4-6", messages: hi, seed: 7 }),
    });
  const lenient = await send({});
  expect([lenient.status, lenient.headers.get("x-weir-warnings")]).toEqual([200, "dropped:seed"]);
  const before = upstream.requests.length;
  const strict = await send({ "x-weir-strict": "true" });
  expect([strict.status, await strict.text()]).toEqual([400, expect.stringContaining("dropped:seed")]);
  expect(upstream.requests.length).toBe(before);
});

test("strict mode also refuses losses when a program answers, also the mock in place of another model", async () => {
  const alone = await startGateway({ config: {} });
  try {
    const send = async (path: string, strict: string) => {
      const response = await fetch(`${alone.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-weir-strict": strict },
        body: JSON.stringify({ model: "gpt-4.1", messages: hi }),
      });
      return { status: response.status, text: await response.text() };
    };
    expect((await send("/v1/chat/completions", "false")).status).toBe(200);
    for (const path of ["/v1/chat/completions", "/v1/explain"]) {
      const refused = await send(path, "true");
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("substituted:model");
    }
  } finally {
    await alone.stop();
  }
});

test("where it would be asked, in order", async () => {
  const explained = await explain({ model: "openai/gpt-4.1", messages: hi });
  const [place] = (explained as Explained & { plan: object[] }).plan;
  expect(place).toMatchObject({
    deployment: "openai",
    model: "gpt-4.1",
    role: "target",
    weight: 1,
    url: `${upstream.url}/v1/chat/completions`,
  });
});

test("the format is seen from the request, or named", async () => {
  const body = { model: "claude-opus-4-6", max_tokens: 9, system: "be kind", messages: hi };
  expect((await explain(body)).format).toBe("messages");
  expect((await explain({ ...body, system: undefined }, "?format=messages")).format).toBe("messages");
  expect((await explain({ model: "mock/echo", messages: hi })).request).toBeNull();
});

test("the command shows the same without a running gateway", async () => {
  const main = resolve(import.meta.dir, "../../src/main.ts");
  const run = Bun.spawn([process.execPath, main, "explain"], {
    cwd: gateway.folder,
    env: environmentIn(gateway.folder),
    stdin: new Blob([JSON.stringify({ model: "claude-opus-4-6", messages: hi, seed: 7 })]),
    stdout: "pipe",
  });
  const explained = JSON.parse(await new Response(run.stdout).text()) as Explained;
  expect(explained.served_by).toMatchObject({ provider: "anthropic", lane: "translated" });
  expect(explained.losses).toMatchObject([{ code: "dropped", path: "seed" }]);
});

test("count_tokens is forwarded where the provider counts, and estimated where it does not", async () => {
  upstream.answer((request) =>
    request.path.endsWith("/count_tokens") ? json({ input_tokens: 1234 }) : json({}, 500),
  );
  const client = anthropicClient(gateway.url);
  const forwarded = await client.messages.countTokens({
    model: "claude-opus-4-6",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(forwarded.input_tokens).toBe(1234);
  expect(upstream.requests.at(-1)?.path).toBe("/v1/messages/count_tokens");
  const estimated = await client.messages.countTokens({
    model: "openai/gpt-4.1",
    messages: [{ role: "user", content: "one two three four five" }],
  });
  expect(estimated.input_tokens).toBeGreaterThan(4);
  expect(estimated.input_tokens).toBeLessThan(30);
});

test("a provider that fails to count is estimated for, never a 5xx", async () => {
  upstream.answer(() => json({ type: "error", error: { type: "api_error", message: "no" } }, 500));
  const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-opus-4-6", messages: hi }),
  });
  expect([response.status, response.headers.get("x-weir-warnings")]).toEqual([
    200,
    "synthesized:input_tokens",
  ]);
});

const refusal = async (body: object, query = "") => {
  const response = await fetch(`${gateway.url}/v1/explain${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
};

test("the format is the one that alone fits the request, and never a guess", async () => {
  const model = "openai/gpt-4.1";
  const tool = { name: "f", input_schema: { type: "object" } };
  const fitting: [object, string][] = [
    [{ model, messages: hi }, "chat-completions"],
    // DeepSeek and Z.ai have this member too.
    [{ model, messages: hi, thinking: { type: "enabled" } }, "chat-completions"],
    [
      {
        model,
        max_tokens: 9,
        thinking: { type: "enabled" },
        messages: [{ role: "system", content: "x" }, ...hi],
      },
      "chat-completions",
    ],
    [{ model, max_tokens: 9, thinking: { type: "enabled" }, messages: hi, stop: ["x"] }, "chat-completions"],
    [{ model, max_tokens: 9, messages: hi, tools: [tool] }, "messages"],
    [{ model, max_tokens: 9, messages: hi, system: "Be brief." }, "messages"],
    [{ model, input: "hi" }, "responses"],
    [{ model, contents: [{ parts: [{ text: "hi" }] }] }, "gemini"],
    [{ model, messages: hi, options: { num_ctx: 9 } }, "ollama"],
  ];
  for (const [body, format] of fitting) expect((await explain(body)).format).toBe(format);
});

test("a request that fits several formats is asked about, and a path names one", async () => {
  const body = { model: "openai/gpt-4.1", max_tokens: 9, messages: hi };
  for (const more of [{}, { thinking: { type: "enabled" } }]) {
    const { status, text } = await refusal({ ...body, ...more });
    const says: string = expect.stringMatching(/chat-completions, messages.*--format.*format=/);
    expect([status, text]).toEqual([400, says]);
  }
  for (const name of ["messages", "/v1/messages"])
    expect((await explain(body, `?format=${encodeURIComponent(name)}`)).format).toBe("messages");
  expect((await explain(body, "?format=/v1/chat/completions")).format).toBe("chat-completions");
  expect((await explain(body, "?format=/api/chat")).format).toBe("ollama");
  expect((await refusal(body, "?format=/v1/nothing")).status).toBe(400);
});

test("the help of weir explain names every format", () => {
  if (gateway.target !== "source") return;
  const formats = [...gateway.formats.values()].filter(
    (format): format is Format & { client: ClientCodec } => format.client !== undefined,
  );
  expect(FORMATS.toSorted()).toEqual([...new Set(namesOf(formats))].toSorted());
});
