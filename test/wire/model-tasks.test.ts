/** What lists of models say that each does, and what a client reads that asks a model for something else. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { seeError } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let asked = 0;

beforeAll(async () => {
  upstream = startUpstream(({ path, method }) => {
    if (method === "GET") return json({ data: path.startsWith("/local") ? [{ id: "bge-large" }] : [] });
    asked++;
    return json({ error: { message: "this host is never asked" } }, 500);
  });
  gateway = await startGateway({
    config: {
      retries: { attempts: 1 },
      providers: {
        openai: { apiKey: "unused", baseUrl: `${upstream.url}/openai` },
        anthropic: { apiKey: "unused", baseUrl: `${upstream.url}/anthropic` },
        gemini: { apiKey: "unused", baseUrl: `${upstream.url}/gemini` },
        cohere: { apiKey: "unused", baseUrl: `${upstream.url}/cohere` },
        voyage: { apiKey: "unused", baseUrl: `${upstream.url}/voyage` },
        vllm: {
          baseUrl: `${upstream.url}/local`,
          does: { rerank: { "jina-rerank": { path: "/rerank", models: ["bge-*"] } } },
        },
      },
      routes: { mixed: [{ model: "claude-opus-4-6" }, { model: "mock/embed" }] },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const one = async (id: string) =>
  (await (await fetch(`${gateway.url}/v1/models/${id}`)).json()) as JsonObject;

test.each([
  // By the declaration of the provider.
  ["mock/chat", ["chat", "completion", "cache"]],
  ["mock/embed", ["embedding"]],
  ["mock/rerank", ["rerank"]],
  ["mock/moderation", ["moderation"]],
  [
    "mock/error-429",
    [
      "chat",
      "embedding",
      "completion",
      "rerank",
      "moderation",
      "decision",
      "image",
      "realtime",
      "cache",
      "speech",
      "transcription",
    ],
  ],
  ["openai/omni-moderation-latest", ["moderation"]],
  ["openai/gpt-3.5-turbo-instruct", ["completion"]],
  ["openai/whisper-1", ["transcription"]],
  ["openai/gpt-4o-transcribe", ["transcription"]],
  ["openai/tts-1", ["speech"]],
  ["openai/gpt-4o-mini-tts", ["speech"]],
  ["cohere/rerank-v4.0-pro", ["rerank"]],
  ["cohere/embed-v4.0", ["embedding"]],
  ["voyage/rerank-2.5", ["rerank"]],
  ["claude-opus-4-6", ["chat"]],
  // By the facts: the provider embeds and moderates, too, but not with this model.
  ["openai/gpt-4.1", ["chat"]],
  ["gemini/gemini-embedding-001", ["embedding"]],
  ["gemini/gemini-2.5-flash-image", ["chat", "image"]],
  ["openai/gpt-image-1", ["image"]],
  // By the globs of the config: a model that an endpoint for ranking names does nothing else.
  ["vllm/bge-large", ["rerank"]],
  // Nothing is known: all that the provider does for some model.
  ["vllm/other", ["chat", "embedding"]],
  // A route: what one of its models does.
  ["mixed", ["chat", "embedding"]],
] as [string, string[]][])("%s does %j", async (id, does) => {
  expect((await one(id))["does"]).toEqual(does);
});

test("the list and the single model agree, and a model that does nothing here has an empty list", async () => {
  const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: JsonObject[] };
  expect(data.length).toBeGreaterThan(30);
  for (const model of data) expect(Array.isArray(model["does"])).toBe(true);
  expect(data.find(({ id }) => id === "bge-large")!["does"]).toEqual(["rerank"]);
  expect((await one("gemini/gemini-3.5-transcribe"))["does"]).toEqual([]);
});

test("a model that ranks has the price of a search, and one that judges costs nothing", async () => {
  expect((await one("cohere/rerank-v4.0-pro"))["pricing"]).toEqual({
    ...{ prompt: "0", completion: "0", units: { search: "0.0025" } },
  });
  expect((await one("openai/omni-moderation-latest"))["pricing"]).toEqual({ prompt: "0", completion: "0" });
});

test("lists of Gemini and Ollama offer no text of a model that ranks", async () => {
  const google = new GoogleGenAI({ apiKey: "unused", httpOptions: { baseUrl: gateway.url } });
  expect((await google.models.get({ model: "mock/rerank" })).supportedActions).toEqual([]);
  expect((await google.models.get({ model: "mock/embed" })).supportedActions).toEqual(["embedContent"]);
  const { models } = (await (await fetch(`${gateway.url}/api/tags`)).json()) as { models: JsonObject[] };
  const capabilities = (name: string) => models.find((model) => model["name"] === name)!["capabilities"];
  expect(capabilities("mock/rerank")).toEqual([]);
  expect(capabilities("mock/embed")).toEqual(["embedding"]);
  expect(capabilities("mock/chat")).toContain("completion");
});

test("another weir lists what this one does", async () => {
  const outer = await startGateway({ config: { providers: { weir: { baseUrl: `${gateway.url}/v1` } } } });
  try {
    const does = async (id: string) =>
      ((await (await fetch(`${outer.url}/v1/models/weir/${id}`)).json()) as JsonObject)["does"];
    expect(await does("mock/rerank")).toEqual(["rerank"]);
    expect(await does("mock/embed")).toEqual(["embedding"]);
    expect(await does("claude-opus-4-6")).toEqual(["chat"]);
  } finally {
    await outer.stop();
  }
}, 60_000);

const messages = [{ role: "user" as const, content: "hi" }];

test("a request for a conversation is refused in the client's words, with the path that fits", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "unused", maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: "unused", httpOptions: { baseUrl: gateway.url } });
  const before = asked;
  const rows = [
    ["mock/rerank", "POST /v1/rerank"],
    ["mock/moderation", "POST /v1/moderations"],
    ["mock/embed", "POST /v1/embeddings"],
    ["openai/omni-moderation-latest", "POST /v1/moderations"],
    ["openai/gpt-3.5-turbo-instruct", "POST /v1/completions"],
    ["cohere/rerank-v4.0-pro", "POST /v1/rerank"],
    ["vllm/bge-large", "POST /v1/rerank"],
  ] as const;
  for (const [model, path] of rows) {
    const error = await seeError(() => openai.chat.completions.create({ model, messages }));
    expect([error.status, error.code]).toEqual([404, "model_not_found"]);
    expect(error.message).toContain(`generates no text with the model \`${model}\``);
    expect(error.message).toEndWith(`; send \`${model}\` to ${path}.`);
    const refused = await seeError(() => anthropic.messages.create({ model, messages, max_tokens: 9 }));
    expect([refused.status, refused.class]).toEqual([404, "NotFoundError"]);
    expect(refused.message).toContain(path);
  }
  const gemini = await google.models.generateContent({ model: "mock/rerank", contents: "hi" }).catch(String);
  expect(gemini).toContain("POST /v1/rerank");
  // Clients of Gemini have a path of their own for vectors.
  const vectors = await google.models.generateContent({ model: "mock/embed", contents: "hi" }).catch(String);
  expect(vectors).toContain("POST /v1beta/models/mock/embed:batchEmbedContents");
  expect(asked).toBe(before);
});

test("a request of a kind to a model for conversations names the model that fits and the path for this one", async () => {
  const post = async (path: string, body: JsonObject) => {
    const response = await fetch(gateway.url + path, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  const ranking = await post("/v2/rerank", { model: "claude-opus-4-6", query: "q", documents: ["a"] });
  expect([ranking.status, ranking.body["message"]]).toEqual([
    404,
    "The provider anthropic does not rerank documents with the model `claude-opus-4-6`; send `claude-opus-4-6` to POST /v1/chat/completions.",
  ]);
  const judging = await post("/v1/moderations", { model: "mock/chat", input: "a" });
  expect([judging.status, (judging.body["error"] as JsonObject)["message"]]).toEqual([
    404,
    "The provider mock judges no texts with the model `mock/chat`, but with `mock/moderation`; send `mock/chat` to POST /v1/chat/completions.",
  ]);
  const embedding = await post("/v1/embeddings", { model: "voyage/rerank-2.5", input: "a" });
  expect([embedding.status, (embedding.body["error"] as JsonObject)["message"]]).toEqual([
    404,
    "The provider voyage serves no embeddings with the model `voyage/rerank-2.5`, but with `voyage/voyage-4`; send `voyage/rerank-2.5` to POST /v1/rerank.",
  ]);
});

test("a route sends a request to the models that do it", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
  const { data } = await openai.embeddings.create({ model: "mixed", input: ["a"] });
  expect(data).toHaveLength(1);
});
