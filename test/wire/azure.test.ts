/** Azure OpenAI and Foundry: weir's requests beside those of the vendors' SDKs, and what the hosts answer in their own ways. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AnthropicFoundry } from "@anthropic-ai/foundry-sdk";
import OpenAI, { AzureOpenAI } from "openai";
import { explain } from "../helpers/explained.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { streamedText } from "../helpers/streamed.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

const KEY = "azure-canary-0123456789abcdef";
const VERSION = "2024-10-21";

let host: Upstream;
let gateway: RunningGateway;

beforeEach(async () => {
  host = startUpstream(answering);
  gateway = await startGateway({
    env: {
      AZURE_OPENAI_API_KEY: KEY,
      AZURE_OPENAI_ENDPOINT: `${host.url}/`,
      OPENAI_API_VERSION: VERSION,
      ANTHROPIC_FOUNDRY_API_KEY: KEY,
      ANTHROPIC_FOUNDRY_BASE_URL: `${host.url}/anthropic/`,
    },
    config: { providers: { "foundry-models": { baseUrl: `${host.url}/models` } }, log: { format: "json" } },
  });
});

afterEach(async () => {
  await gateway.stop();
  host.stop();
});

const COMPLETION = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "gpt-4o" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MESSAGE = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", stop_sequence: null },
  content: [{ type: "text", text: "hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const RESPONSE = {
  ...{ id: "resp_1", object: "response", created_at: 1, model: "gpt-4o", status: "completed", error: null },
  output: [
    {
      ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: "hello", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  content_filters: [{ blocked: false, source_type: "completion" }],
};

/** The first chunk of Azure has neither id nor model nor choices; chunks of an asynchronous filter have no delta. */
const data = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1700000000, model: "gpt-4o-2024" };
const STREAM = [
  data({
    choices: [],
    created: 0,
    id: "",
    model: "",
    object: "",
    prompt_filter_results: [{ prompt_index: 0 }],
  }),
  data({ ...head, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }),
  data({
    ...head,
    choices: [{ index: 0, delta: { content: "hello" }, content_filter_results: {}, finish_reason: null }],
    obfuscation: "x1",
  }),
  data({ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  data({
    ...{ id: "", object: "", created: 0, model: "" },
    choices: [
      { index: 0, finish_reason: null, content_filter_offsets: { check_offset: 10, start_offset: 0 } },
    ],
  }),
  data({
    ...head,
    choices: [],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, latency_checkpoint: {} },
  }),
  "data: [DONE]\n\n",
];

function answering(request: UpstreamRequest) {
  if (request.path.includes("/messages")) return json(MESSAGE);
  if (request.path.includes("/responses")) return json(RESPONSE);
  return request.body.includes('"stream":true') ? sse(STREAM) : json(COMPLETION);
}

const hi = { messages: [{ role: "user" as const, content: "hi" }] };

/** What identifies a request to Azure. */
function seen(request: UpstreamRequest) {
  const names = ["api-key", "x-api-key", "authorization", "content-type", "anthropic-version"];
  const headers = names.map((name) => [name, request.headers.get(name) ?? undefined]);
  return {
    method: request.method,
    path: request.path,
    ...(Object.fromEntries(headers) as Record<string, string>),
  };
}

/** The request that an SDK sends to the host itself, and the one that weir sends. */
async function both(judge: () => Promise<unknown>, ours: () => Promise<unknown>) {
  const before = host.requests.length;
  await judge();
  await ours();
  const [first, second] = host.requests.slice(before);
  return [first!, second!] as const;
}

describe("weir's requests are those of the SDK", () => {
  const dated = () =>
    new AzureOpenAI({ endpoint: host.url, apiKey: KEY, apiVersion: VERSION, maxRetries: 0, logLevel: "off" });

  for (const model of ["gpt-4o", "my deployment", "a/b"])
    test(`AzureOpenAI with a dated version, deployment ${model}`, async () => {
      const [sdk, weir] = await both(
        () => dated().chat.completions.create({ model, ...hi }),
        () => openaiClient(gateway.url).chat.completions.create({ model: `azure-dated/${model}`, ...hi }),
      );
      expect(seen(weir)).toEqual(seen(sdk));
      expect(weir.headers.get("api-key")).toBe(KEY);
      expect(JSON.parse(weir.body.toString())).toEqual(JSON.parse(sdk.body.toString()));
    });

  test("AzureOpenAI with a dated version, responses", async () => {
    const [sdk, weir] = await both(
      () => dated().responses.create({ model: "gpt-4o", input: "hi" }),
      () => openaiClient(gateway.url).responses.create({ model: "azure-dated/gpt-4o", input: "hi" }),
    );
    expect(seen(weir)).toEqual(seen(sdk));
    expect(weir.path).toBe(`/openai/responses?api-version=${VERSION}`);
  });

  test("AzureOpenAI with a dated version, embeddings", async () => {
    const vectors = {
      ...{ object: "list", model: "e" },
      data: [{ object: "embedding", index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    };
    host.answer(() => json(vectors));
    const request = { model: "my/embeddings", input: ["hi"], encoding_format: "float" as const };
    const [sdk, weir] = await both(
      () => dated().embeddings.create(request),
      () =>
        openaiClient(gateway.url).embeddings.create({ ...request, model: `azure-dated/${request.model}` }),
    );
    expect(seen(weir)).toEqual(seen(sdk));
    expect(JSON.parse(weir.body.toString())).toEqual(JSON.parse(sdk.body.toString()));
    host.answer(answering);
  });

  test("OpenAI at /openai/v1, chat and responses", async () => {
    const v1 = new OpenAI({
      baseURL: `${host.url}/openai/v1`,
      apiKey: KEY,
      maxRetries: 0,
      defaultHeaders: { authorization: null, "api-key": KEY },
    });
    const [chat, weirChat] = await both(
      () => v1.chat.completions.create({ model: "gpt-4o", ...hi }),
      () => openaiClient(gateway.url).chat.completions.create({ model: "azure/gpt-4o", ...hi }),
    );
    expect(seen(weirChat)).toEqual(seen(chat));
    expect(weirChat.path).toBe("/openai/v1/chat/completions");
    const [responses, weirResponses] = await both(
      () => v1.responses.create({ model: "gpt-4o", input: "hi" }),
      () => openaiClient(gateway.url).responses.create({ model: "azure/gpt-4o", input: "hi" }),
    );
    expect(seen(weirResponses)).toEqual(seen(responses));
  });

  test("AnthropicFoundry, messages and the count of tokens", async () => {
    const foundry = new AnthropicFoundry({
      apiKey: KEY,
      baseURL: `${host.url}/anthropic/`,
      maxRetries: 0,
      logLevel: "off",
    });
    const [sdk, weir] = await both(
      () => foundry.messages.create({ model: "claude-x", max_tokens: 5, ...hi }),
      () => anthropicClient(gateway.url).messages.create({ model: "foundry/claude-x", max_tokens: 5, ...hi }),
    );
    expect(seen(weir)).toEqual(seen(sdk));
    expect(weir.path).toBe("/anthropic/v1/messages");
    expect(JSON.parse(weir.body.toString())).toEqual(JSON.parse(sdk.body.toString()));
    const [counted, weirCounted] = await both(
      () => foundry.messages.countTokens({ model: "claude-x", ...hi }),
      () => anthropicClient(gateway.url).messages.countTokens({ model: "foundry/claude-x", ...hi }),
    );
    expect(seen(weirCounted)).toEqual(seen(counted));
  });
});

test("a path below the usual one stays in front of the version", async () => {
  host.answer(() => json({ object: "response.compaction", id: "c", created_at: 1, output: [], usage: null }));
  const response = await fetch(`${gateway.url}/v1/responses/compact`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "azure-dated/gpt-5", input: "hi" }),
  });
  await response.text();
  expect(host.requests[0]!.path).toBe(`/openai/responses/compact?api-version=${VERSION}`);
});

test("models of Foundry are asked at their own path, with the version that it needs", async () => {
  await openaiClient(gateway.url).chat.completions.create({ model: "foundry-models/grok-4", ...hi });
  expect(host.requests[0]!.path).toBe("/models/chat/completions?api-version=2024-05-01-preview");
  expect(host.requests[0]!.headers.get("api-key")).toBe(KEY);
});

test("synthetic: chunks without id and model, without choices and without a delta reach every client whole", async () => {
  const client = openaiClient(gateway.url);
  const native = await client.chat.completions
    .stream({ model: "azure/gpt-4o", ...hi, stream_options: { include_usage: true } })
    .finalChatCompletion();
  expect(native.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "hello" } });
  const message = await anthropicClient(gateway.url)
    .messages.stream({ model: "azure-dated/gpt-4o", max_tokens: 9, ...hi })
    .finalMessage();
  expect(message).toMatchObject({
    model: "azure-dated/gpt-4o",
    stop_reason: "end_turn",
    content: [{ text: "hello" }],
    usage: { input_tokens: 7, output_tokens: 2 },
  });
  expect(message.id).not.toBe("");
});

test("synthetic: an answer that the content filter cuts ends so in every format", async () => {
  const filtered = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "content_filter" }] };
  host.answer(() => sse([...STREAM.slice(0, 3), data(filtered), "data: [DONE]\n\n"]));
  const model = "azure-dated/gpt-4o";
  const native = openaiClient(gateway.url).chat.completions.stream({ model, ...hi });
  // The SDK raises an error of its own for such an answer.
  const reasons: (string | null | undefined)[] = [];
  native.on("chunk", ({ choices }) => reasons.push(choices[0]?.finish_reason));
  await native.done().catch(() => {});
  expect(reasons).toContain("content_filter");
  const message = await anthropicClient(gateway.url)
    .messages.stream({ model, max_tokens: 9, ...hi })
    .finalMessage();
  expect([message.stop_reason, message.content[0]]).toMatchObject(["refusal", { text: "hello" }]);
  const incomplete = await openaiClient(gateway.url)
    .responses.stream({ model: "foundry-models/grok-4", input: "hi" })
    .finalResponse();
  expect(incomplete).toMatchObject({
    ...{ status: "incomplete", output_text: "hello" },
    incomplete_details: { reason: "content_filter" },
  });
});

/** What the content filter says about a prompt. */
const FILTERED = {
  error: {
    message:
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
    ...{ type: null, param: "prompt", code: "content_filter", status: 400 },
    innererror: {
      code: "ResponsibleAIPolicyViolation",
      content_filter_result: { hate: { filtered: true, severity: "high" }, jailbreak: { detected: true } },
    },
  },
};

describe("synthetic: a prompt that the content filter refuses", () => {
  beforeEach(() => host.answer(() => json(FILTERED, 400)));

  const post = (path: string, body: object) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test("is a 400 with the whole body for a client of the same format, and is sent once", async () => {
    for (const [path, body] of [
      ["/v1/chat/completions", { model: "azure/gpt-4o", ...hi }],
      ["/v1/responses", { model: "azure/gpt-4o", input: "hi" }],
    ] as const) {
      const before = host.requests.length;
      const response = await post(path, body);
      expect([response.status, await response.json()]).toEqual([400, FILTERED]);
      expect(host.requests.length - before).toBe(1);
    }
  });

  test("is a 400 with the filter's words for a client of another format, and is sent once", async () => {
    const response = await post("/v1/messages", { model: "azure/gpt-4o", max_tokens: 5, ...hi });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        type: "invalid_request_error",
        message: expect.stringContaining("content management policy") as string,
      },
    });
    const other = await post("/v1/responses", { model: "foundry-models/grok", input: "hi" });
    expect(other.status).toBe(400);
    expect(await other.json()).toMatchObject({ error: { code: "content_filter" } });
    expect(host.requests.length).toBe(2);
  });
});

describe("errors", () => {
  const ask = (model = "azure/gpt-4o") =>
    anthropicClient(gateway.url)
      .messages.create({ model, max_tokens: 5, ...hi })
      .then(
        () => new Error("no error"),
        (thrown: Error) => thrown,
      );

  test("an unknown deployment is a 404 about the model, with a hint", async () => {
    const message = "The API deployment for this resource does not exist.";
    host.answer(() => json({ error: { code: "DeploymentNotFound", message } }, 404));
    const error = await ask();
    expect(error).toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
    expect(error.message).toContain("Azure expects the name of a deployment");
    expect(host.requests.length).toBe(1);
  });

  test("a path that the resource does not have is the operator's to correct: 502, and the log names the base URL", async () => {
    host.answer(() => json({ error: { code: "404", message: "Resource not found" } }, 404));
    expect(await ask()).toMatchObject({
      status: 502,
      message: expect.stringContaining("its base URL is probably wrong") as string,
    });
    const native = await openaiClient(gateway.url)
      .chat.completions.create({ model: "azure/gpt-4o", ...hi })
      .catch((thrown: unknown) => thrown);
    expect(native).toMatchObject({ status: 502, code: "upstream_configuration" });
    await gateway.stop();
    expect(gateway.log.join("\n")).toContain(`${host.url}/openai/v1 answered: Resource not found`);
    expect(JSON.stringify(native)).not.toContain(host.url);
  });

  test("a wrong key is the operator's to correct, too", async () => {
    const message = "Access denied due to invalid subscription key or wrong API endpoint.";
    host.answer(() => json({ error: { code: "401", message } }, 401));
    const error = await ask();
    expect(error).toMatchObject({ status: 502 });
    expect(error.message).not.toContain("subscription");
    await gateway.stop();
    expect(gateway.log.join("\n")).not.toContain(KEY);
  });

  test("a rate limit without a wait in milliseconds says the wait in seconds, and -1 is no exhausted limit", async () => {
    const headers = { "retry-after": "7", "retry-after-ms": "0", "x-ratelimit-remaining-tokens": "-1" };
    host.answer(() =>
      json({ error: { code: "RateLimitReached", message: "slow down", details: "x" } }, 429, headers),
    );
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-stainless-retry-count": "0" },
      body: JSON.stringify({ model: "azure/gpt-4o", max_tokens: 5, ...hi }),
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
    await streamedText(response);
    host.answer(answering);
  });
});

describe("the URLs of a resource", () => {
  const RESOURCE = "https://r.openai.azure.com";
  const FOUNDRY = "https://r.services.ai.azure.com";
  const rows: [model: string, format: string, url: string][] = [
    ["azure/my-gpt", "chat-completions", `${RESOURCE}/openai/v1/chat/completions`],
    ["azure/my-gpt", "responses", `${RESOURCE}/openai/v1/responses`],
    ["azure/my-gpt", "messages", `${RESOURCE}/openai/v1/responses`],
    [
      "azure-dated/my gpt/4",
      "chat-completions",
      `${RESOURCE}/openai/deployments/my%20gpt%2F4/chat/completions?api-version=2024-10-21`,
    ],
    ["azure-dated/my-gpt", "responses", `${RESOURCE}/openai/responses?api-version=2024-10-21`],
    ["foundry/claude-x", "messages", `${FOUNDRY}/anthropic/v1/messages`],
    [
      "foundry-models/grok-4",
      "chat-completions",
      `${FOUNDRY}/models/chat/completions?api-version=2024-05-01-preview`,
    ],
  ];
  let real: RunningGateway;

  beforeAll(async () => {
    const env = {
      AZURE_OPENAI_API_KEY: KEY,
      AZURE_OPENAI_ENDPOINT: RESOURCE,
      OPENAI_API_VERSION: "2024-10-21",
      ANTHROPIC_FOUNDRY_API_KEY: KEY,
      ANTHROPIC_FOUNDRY_RESOURCE: "r",
    };
    real = await startGateway({ env });
  });

  afterAll(() => real.stop());

  const bodyOf = (model: string, format: string) =>
    format === "responses" ? { model, input: "hi" } : { model, max_tokens: 5, ...hi };

  for (const [model, format, url] of rows)
    test(`${model} for a ${format} client`, async () => {
      const found = await explain(real.url, format, bodyOf(model, format));
      expect(found).toMatchObject({ sent: { request: { url } } });
      expect(JSON.stringify(found)).not.toContain(KEY);
    });

  test("of a project in Foundry", async () => {
    const baseUrl = `${FOUNDRY}/api/projects/p/openai/v1`;
    const project = await startGateway({ config: { providers: { azure: { apiKey: KEY, baseUrl } } } });
    const found = await explain(project.url, "responses", { model: "azure/my-gpt", input: "hi" });
    expect(found).toMatchObject({
      sent: { request: { url: `${baseUrl}/responses`, authorized_with: ["$AZURE_OPENAI_API_KEY"] } },
    });
    await project.stop();
  });
});
