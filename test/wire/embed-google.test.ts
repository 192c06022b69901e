/** Google's SDK asks for embeddings on any model, and OpenAI's SDK on Google's models. */
import { expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import type { JsonObject } from "../../src/core/json.ts";
import {
  askEmbeddings,
  bodyOf,
  embeddingHost,
  embeds,
  lastLine,
  makeEmbeddingStage,
  vectorFor,
} from "../helpers/embedding.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { type Handler, json } from "../helpers/upstream.ts";

const { upstream, gateway } = makeEmbeddingStage();

const google = (url: string) => new GoogleGenAI({ apiKey: "none-needed", httpOptions: { baseUrl: url } });

interface Batch {
  requests: { model: string; content: { parts: { text: string }[] }; [option: string]: unknown }[];
}

const batchOf = (request: { body: Uint8Array }) => bodyOf(request) as unknown as Batch;

/** Answers `batchEmbedContents`. @param more members of the answer beside the vectors */
function batchEmbeds(more: JsonObject = {}): Handler {
  return (request) => {
    const embeddings = batchOf(request).requests.map(({ content }) => ({
      values: vectorFor(content.parts[0]!.text),
    }));
    return json({ embeddings, ...more });
  };
}

const gemini = (url: string) => ({ providers: { gemini: { apiKey: "canary-0123456789", baseUrl: url } } });

test("the SDK embeds on a model of another provider, with task and dimensions", async () => {
  const host = upstream(embeds());
  const { url } = await gateway(embeddingHost(host.url, { maxInputs: 2 }));
  const answer = await google(url).models.embedContent({
    model: "host/some/model:1",
    contents: ["text 1", "text 2", "text 3"],
    config: { taskType: "RETRIEVAL_QUERY", outputDimensionality: 3 },
  });
  expect(answer.embeddings!.map(({ values }) => values![0])).toEqual(
    ["text 1", "text 2", "text 3"].map((text) => expect.closeTo(vectorFor(text)[0]!, 5)),
  );
  expect(host.requests.length).toBe(2);
  for (const request of host.requests)
    expect(bodyOf(request)).toMatchObject({
      model: "some/model:1",
      dimensions: 3,
      input_type: "RETRIEVAL_QUERY",
    });
});

test("the SDK embeds at Google, whose answer has no token counts: they are estimated", async () => {
  const host = upstream(batchEmbeds());
  const running = await gateway(gemini(host.url));
  const answer = await google(running.url).models.embedContent({
    model: "gemini-embedding-001",
    contents: "text 1",
    config: { taskType: "RETRIEVAL_DOCUMENT", title: "a title" },
  });
  expect(answer.embeddings![0]!.values![0]).toBeCloseTo(vectorFor("text 1")[0]!, 5);
  const [request] = host.requests;
  expect(request!.path).toBe("/v1beta/models/gemini-embedding-001:batchEmbedContents");
  expect(request!.headers.get("x-goog-api-key")).toBe("canary-0123456789");
  expect(batchOf(request!).requests).toEqual([
    {
      model: "models/gemini-embedding-001",
      content: { parts: [{ text: "text 1" }] },
      taskType: "RETRIEVAL_DOCUMENT",
      title: "a title",
    },
  ]);
  expect(await lastLine(running)).toMatchObject({
    estimated: { output: 0 },
    tokens: { input: 0, known: "absent" },
  });
});

test("embedContent embeds one text, in both spellings of its members", async () => {
  const { url } = await gateway({});
  for (const body of [
    { content: { parts: [{ text: "a" }] }, outputDimensionality: 8 },
    { content: { parts: [{ text: "a" }] }, output_dimensionality: 8 },
  ]) {
    const response = await fetch(`${url}/v1beta/models/mock/embed:embedContent`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { embedding, usageMetadata } = (await response.json()) as JsonObject;
    expect((embedding as { values: number[] }).values).toHaveLength(8);
    expect(usageMetadata).toEqual({ promptTokenCount: 1 });
  }
});

test("a fault has Google's envelope and the client's path", async () => {
  const { url } = await gateway({});
  const ask = async (method: string, body: JsonObject) => {
    const response = await fetch(`${url}/v1beta/models/mock/embed:${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return [
      response.status,
      ((await response.json()) as { error: { message: string } }).error.message,
    ] as const;
  };
  const text = { content: { parts: [{ text: "a" }] } };
  const image = { content: { parts: [{ inlineData: { mimeType: "image/png", data: "" } }] } };
  const cases: [method: string, body: JsonObject, says: string][] = [
    ["embedContent", {}, "content"],
    ["batchEmbedContents", { requests: [] }, "requests"],
    ["batchEmbedContents", { requests: [text, image] }, "requests[1].content.parts[0]"],
    ["batchEmbedContents", { requests: [text, { ...text, taskType: "CLUSTERING" }] }, "requests[1].taskType"],
    ["embedContent", { ...text, outputDimensionality: "8" }, "outputDimensionality"],
  ];
  for (const [method, body, says] of cases)
    expect(await ask(method, body)).toEqual([400, expect.stringContaining(says)]);
});

test("OpenAI's SDK embeds at Google: 250 texts are three requests, and token ids are refused", async () => {
  const host = upstream(batchEmbeds());
  const running = await gateway(gemini(host.url));
  const input = Array.from({ length: 250 }, (_, at) => `text ${at}`);
  const openai = openaiClient(running.url);
  const { data, usage } = await openai.embeddings.create({
    model: "gemini-embedding-001",
    input,
    dimensions: 768,
  });
  data.forEach(({ embedding }, at) => expect(embedding[0]).toBeCloseTo(vectorFor(input[at])[0]!, 4));
  expect(host.requests.map((request) => batchOf(request).requests.length).sort()).toEqual([100, 100, 50]);
  for (const request of host.requests)
    expect(batchOf(request).requests.every((one) => one.outputDimensionality === 768)).toBe(true);
  expect(usage.prompt_tokens).toBeGreaterThan(0);
  expect(await lastLine(running)).toMatchObject({ estimated: { input: usage.prompt_tokens } });
  const ids = await seeError(() =>
    openai.embeddings.create({ model: "gemini-embedding-001", input: [[1, 2]] }),
  );
  expect([ids.status, ids.param]).toEqual([400, "input[0]"]);
});

test("token counts of newer models of Google are passed on, and what Google cannot take is reported", async () => {
  const host = upstream(batchEmbeds({ usageMetadata: { promptTokenCount: 5 } }));
  const running = await gateway(gemini(host.url));
  const body = {
    model: "gemini-embedding-2",
    input: "hi",
    user: "u",
    vendor_option: 1,
    input_type: "search_query",
  };
  const { body: answer, headers } = await askEmbeddings(running.url, body);
  expect(answer.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
  expect(headers.get("x-weir-warnings")).toBe("dropped:vendor_option, dropped:user");
  expect(batchOf(host.requests[0]!).requests[0]!.taskType).toBe("RETRIEVAL_QUERY");
  expect(await lastLine(running)).toMatchObject({ tokens: { input: 5 }, lane: "translated" });
  const strict = await askEmbeddings(running.url, body, { "x-weir-strict": "true" });
  expect([strict.status, strict.body.error!.code]).toEqual([400, "lossy_translation"]);
});

test("explain shows what a request in Google's words becomes", async () => {
  const { url } = await gateway({ providers: { openai: { apiKey: "sk-none-0123456789" } } });
  const response = await fetch(`${url}/v1/explain?format=gemini-embed`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "text-embedding-3-small",
      requests: [{ content: { parts: [{ text: "hi" }] }, outputDimensionality: 5, taskType: "CLUSTERING" }],
    }),
  });
  expect((await response.json()) as JsonObject).toMatchObject({
    format: "gemini-embed",
    requests: 1,
    request: { body: { model: "text-embedding-3-small", input: ["hi"], dimensions: 5 } },
    losses: [{ code: "dropped", path: "requests[0].taskType" }],
  });
});

test("members that no provider gets are told, at each level", async () => {
  const host = upstream(embeds());
  const running = await gateway(embeddingHost(host.url));
  const ask = (path: string, body: JsonObject) =>
    fetch(`${running.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const part = { text: "a", language: "en" };
  const entry = { content: { role: "user", parts: [part] }, config: { autoTruncate: true }, weight: 1 };
  const batch = await ask("/v1beta/models/host%2Fm:batchEmbedContents", {
    requests: [entry],
    labels: { a: "b" },
  });
  expect([batch.status, batch.headers.get("x-weir-warnings")]).toEqual([
    200,
    "unknown:requests[0].content.parts[0].language, unknown:requests[0].config.autoTruncate, unknown:requests[0].weight, unknown:labels",
  ]);
  const ollama = await ask("/api/embed", { model: "host/m", input: "a", keep_alive: "5m", pooling: "mean" });
  expect([ollama.status, ollama.headers.get("x-weir-warnings")]).toEqual([200, "unknown:pooling"]);
});
