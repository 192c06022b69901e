/** Operations that weir does not serve, and operations that a host lacks: what the client is told. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(
    json(
      { error: { code: 501, message: "This server does not support it.", type: "not_supported_error" } },
      501,
    ),
  );
  const host = {
    speaks: "chat-completions",
    baseUrl: upstream.url,
    models: ["m"],
    embeds: { embeddings: "/embeddings" },
    does: { rerank: { "jina-rerank": "/rerank" }, moderation: { moderations: "/moderations" } },
  };
  gateway = await startGateway({ config: { providers: { host }, retries: { attempts: 1 } } });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const ask = async (path: string, body?: object) => {
  const response = await fetch(gateway.url + path, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

test.each([
  ["/cohere/v2/rerank", "ranks at POST /v1/rerank, POST /v2/rerank"],
  ["/jina/score", "POST /v1/score"],
  ["/mistral/moderations", "POST /v1/moderations"],
  ["/v1/complete", "POST /v1/messages"],
  ["/infill", "POST /v1/completions"],
  ["/openai/images/upscale", "weir makes images at POST /v1/images/generations"],
  ["/v1/audio/voices", "POST /v1/audio/speech"],
  ["/v1/vector_stores", "keeps no such objects"],
  ["/v1/evals", "provider for this endpoint"],
  ["/v1/containers/c_1/files", "provider for this endpoint"],
  ["/v1/videos", "provider for this endpoint"],
  ["/v1/skills", "provider for this endpoint"],
  ["/v1beta/fileSearchStores", "provider for this endpoint"],
  ["/tokenize", "/v1/messages/count_tokens"],
  ["/v1beta/operations/o1", "generateContent"],
  ["/api/web_search", "web search"],
])("POST %s is a 404 that says what to do", async (path, advice) => {
  const { status, text } = await ask(path, { model: "m" });
  expect([status, text]).toEqual([404, expect.stringContaining(advice)]);
  expect(text).not.toContain("openapi.json");
});

test.each([
  ["/api/v1/rerank", "/v1/rerank"],
  ["/v1/v1/moderations", "/v1/moderations"],
  ["/v1/v2/rerank", "/v2/rerank"],
  ["/v3/score", "/v1/score"],
])("POST %s is a 404 that names %s", async (path, meant) => {
  const { status, text } = await ask(path, { model: "m" });
  expect([status, text]).toEqual([404, expect.stringContaining(`did you mean ${meant}?`)]);
});

test("so is a stored answer of chat completions", async () => {
  const { status, text } = await ask("/v1/chat/completions/chatcmpl-1");
  expect([status, text]).toEqual([404, expect.stringContaining("POST /v1/responses")]);
});

test.each([
  ["/v1/chat/completions", { model: "host/m", messages: [{ role: "user", content: "hi" }] }],
  ["/v1/messages", { model: "host/m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
  ["/v1/embeddings", { model: "host/m", input: "hi" }],
  ["/v1/rerank", { model: "host/m", query: "q", documents: ["a"] }],
  ["/v1/moderations", { model: "host/m", input: "hi" }],
])("a host that lacks %s says 501, and so does weir", async (path, body) => {
  const { status, text } = await ask(path, body);
  expect([status, text]).toEqual([501, expect.stringContaining("does not support it")]);
});
