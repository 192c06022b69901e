/** Claude on Vertex: weir's requests beside those of Anthropic's SDK, and what Vertex answers. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { explain } from "../helpers/explained.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

const TOKEN = "vertex-token-canary-0123456789";
const MESSAGE = {
  ...{ id: "msg_vrtx_1", type: "message", role: "assistant", model: "claude-x", stop_sequence: null },
  content: [{ type: "text", text: "hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 1 },
};
const event = (body: { type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const STREAM = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "vertex_event", usage: { input_tokens: 3, output_tokens: 1 } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
].map(event);

function answering({ path }: UpstreamRequest) {
  if (path.includes("/count-tokens:")) return json({ input_tokens: 42 });
  return path.endsWith(":streamRawPredict") ? sse(STREAM) : json(MESSAGE);
}

let host: Upstream;
let gateway: RunningGateway;

beforeEach(async () => {
  host = startUpstream(answering);
  gateway = await startGateway({
    env: { VERTEX_ACCESS_TOKEN: TOKEN, ANTHROPIC_VERTEX_PROJECT_ID: "p", CLOUD_ML_REGION: "eu" },
    config: { providers: { vertex: { baseUrl: host.url } } },
  });
});

afterEach(async () => {
  await gateway.stop();
  host.stop();
});

const hi = [{ role: "user" as const, content: "hi" }];
const request = { max_tokens: 5, messages: hi };
/** As a client names it, and as Vertex does. */
const DATED = "vertex/claude-sonnet-4-5-20250929";
const VERTEX_NAME = "claude-sonnet-4-5@20250929";

describe("weir's requests are those of Anthropic's SDK", () => {
  const authClient = {
    getRequestHeaders: () => Promise.resolve(new Headers({ authorization: `Bearer ${TOKEN}` })),
  };
  const sdk = () =>
    new AnthropicVertex({
      ...{ region: "eu", projectId: "p", baseURL: `${host.url}/v1`, maxRetries: 0 },
      authClient: authClient as never,
    });

  function seen({ method, path, headers, body }: UpstreamRequest) {
    const names = ["authorization", "content-type", "anthropic-beta", "anthropic-version", "x-api-key"];
    return {
      method,
      path,
      headers: names.map((name) => [name, headers.get(name)]),
      body: JSON.parse(body.toString()) as unknown,
    };
  }

  /** Both clients send the version of the SDK. */
  const client = () => anthropicClient(gateway.url);

  test("a message", async () => {
    await sdk().messages.create({ model: VERTEX_NAME, ...request });
    await client().messages.create({ model: DATED, ...request });
    const [theirs, ours] = host.requests;
    expect(seen(ours!)).toEqual(seen(theirs!));
    expect(ours!.path).toBe(
      `/v1/projects/p/locations/eu/publishers/anthropic/models/${VERTEX_NAME}:rawPredict`,
    );
    expect(JSON.parse(ours!.body.toString())).not.toHaveProperty("model");
  });

  test("a stream with beta features", async () => {
    const betas = ["context-1m-2025-08-07", "effort-2025-11-24"];
    const body = { ...request, betas, stream: true as const };
    for await (const _ of await sdk().beta.messages.create({ model: VERTEX_NAME, ...body }));
    for await (const _ of await client().beta.messages.create({ model: DATED, ...body }));
    const [theirs, ours] = host.requests;
    expect(seen(ours!)).toEqual(seen(theirs!));
    expect(ours!.path).toEndWith(":streamRawPredict");
    expect(JSON.parse(ours!.body.toString())).toMatchObject({ stream: true });
  });

  test("a count of tokens, for which no beta is sent", async () => {
    await sdk().messages.countTokens({ model: VERTEX_NAME, messages: hi });
    const counted = await client().beta.messages.countTokens({
      ...{ model: DATED, messages: hi },
      betas: ["context-1m-2025-08-07"],
    });
    expect(counted.input_tokens).toBe(42);
    const [theirs, ours] = host.requests;
    expect(seen(ours!)).toEqual(seen(theirs!));
  });
});

test("the version is the client's, in the body or the header, and Google's for Anthropic's usual one", async () => {
  const send = async (headers: Record<string, string>, body: object = {}) => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "vertex/claude-opus-4-6", ...request, ...body }),
    });
    expect(response.status).toBe(200);
    const { anthropic_version } = JSON.parse(host.requests.at(-1)!.body.toString()) as {
      anthropic_version: string;
    };
    return anthropic_version;
  };
  expect(await send({})).toBe("vertex-2023-10-16");
  expect(await send({ "anthropic-version": "2023-06-01" })).toBe("vertex-2023-10-16");
  expect(await send({ "anthropic-version": "2026-10-21" })).toBe("2026-10-21");
  expect(await send({ "anthropic-version": "2026-10-21" }, { anthropic_version: "mine" })).toBe("mine");
});

test("the bytes of a body stay as they are but for the model and the version, and those of a stream altogether", async () => {
  const text = `{ "max_tokens": 5,"model" : "${DATED}", "messages":[{"role":"user","content":"h\\u0069"}], "stream":true, "x" : 1.50 }`;
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: text,
  });
  expect(await response.text()).toBe(STREAM.join(""));
  const sent = host.requests[0]!.body.toString();
  expect(sent).toContain('"messages":[{"role":"user","content":"h\\u0069"}], "stream":true, "x" : 1.50');
  expect(JSON.parse(sent)).toEqual({
    ...{ max_tokens: 5, messages: [{ role: "user", content: "hi" }], stream: true, x: 1.5 },
    anthropic_version: "vertex-2023-10-16",
  });
});

test("clients of other formats get Claude's answer, with one event among them that is Vertex's own", async () => {
  const stream = openaiClient(gateway.url).chat.completions.stream({
    ...{ model: DATED, messages: hi, max_tokens: 5 },
    stream_options: { include_usage: true },
  });
  const answer = await stream.finalChatCompletion();
  expect(answer.choices[0]!.message.content).toBe("hello");
  expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 1 });
  expect(JSON.parse(host.requests[0]!.body.toString())).toMatchObject({
    stream: true,
    anthropic_version: "vertex-2023-10-16",
  });
});

test("a scope of a cache mark is left out and reported, because Vertex refuses it", async () => {
  const beta = "prompt-caching-scope-2026-01-05";
  const system = [
    {
      type: "text" as const,
      text: "Be brief.",
      cache_control: { type: "ephemeral", scope: "global" } as never,
    },
  ];
  const { data, response } = await anthropicClient(gateway.url)
    .beta.messages.create({ model: DATED, ...request, system, betas: [beta] })
    .withResponse();
  expect(data.content).toMatchObject([{ text: "hello" }]);
  expect(response.headers.get("x-weir-warnings")).toBe("dropped:system[0].cache_control.scope");
  const sent = JSON.parse(host.requests[0]!.body.toString()) as { system: object[] };
  expect(sent.system).toEqual([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
});

describe("errors of Google and of Anthropic keep their meaning", () => {
  const google = (code: number, status: string, message: string) => ({ error: { code, status, message } });
  const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
  const rows: [name: string, body: unknown, status: number, seen: number, type: string, words: string][] = [
    [
      "an unknown model",
      google(404, "NOT_FOUND", "Publisher Model `projects/p/x` was not found."),
      ...([404, 404, "not_found_error", "was not found"] as const),
    ],
    [
      "a list of errors",
      [google(400, "INVALID_ARGUMENT", "The request is wrong.")],
      ...([400, 400, "invalid_request_error", "The request is wrong."] as const),
    ],
    [
      "a quota",
      google(429, "RESOURCE_EXHAUSTED", "Quota exceeded for base_model."),
      ...([429, 429, "rate_limit_error", "Quota exceeded"] as const),
    ],
    [
      "a refused token",
      google(403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied."),
      ...([403, 502, "api_error", "the operator of weir"] as const),
    ],
    [
      "a fault of the request",
      anthropic("invalid_request_error", "max_tokens: too large"),
      ...([400, 400, "invalid_request_error", "max_tokens: too large"] as const),
    ],
    [
      "an overload",
      anthropic("overloaded_error", "Overloaded"),
      ...([529, 529, "overloaded_error", "Overloaded"] as const),
    ],
  ];
  for (const [name, body, status, seen, type, words] of rows)
    test(name, async () => {
      host.answer(() => json(body, status));
      const refused = await anthropicClient(gateway.url)
        .messages.create({ model: DATED, ...request })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(refused).toMatchObject({
        status: seen,
        error: { error: { type, message: expect.stringContaining(words) as string } },
      });
      const translated = await openaiClient(gateway.url)
        .chat.completions.create({ model: DATED, messages: hi })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      // An overload has a status of its own in each format.
      expect(translated).toMatchObject({ status: seen === 529 ? 503 : seen });
    });
});

test("explain shows the final URL, the body and where the token comes from", async () => {
  const seen = await explain(gateway.url, "messages", { model: DATED, ...request });
  expect(seen).toMatchObject({
    sent: {
      served_by: { provider: "vertex", lane: "native", model: VERTEX_NAME },
      request: {
        url: `${host.url}/v1/projects/p/locations/eu/publishers/anthropic/models/${VERTEX_NAME}:rawPredict`,
        authorized_with: ["$VERTEX_ACCESS_TOKEN"],
        body: { anthropic_version: "vertex-2023-10-16", max_tokens: 5 },
      },
    },
  });
  expect(JSON.stringify(seen)).not.toContain(TOKEN);
});
