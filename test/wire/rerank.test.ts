/** Ranking by the SDKs of Cohere and Voyage, and as vLLM's clients ask, at fakes of all dialects. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CohereClient, CohereClientV2 } from "cohere-ai";
import { VoyageAIClient } from "voyageai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import * as hosts from "../helpers/rerank-hosts.ts";
import { bodyOf } from "../helpers/rerank-hosts.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const DIALECTS = {
  cohere: { dialect: "cohere-rerank", handler: hosts.cohere },
  jina: { dialect: "jina-rerank", handler: hosts.jina },
  voyage: { dialect: "voyage-rerank", handler: hosts.voyage },
  tei: { dialect: "tei-rerank", handler: hosts.tei },
  vllm: { dialect: "score", handler: hosts.vllmScore },
} as const;
type Host = keyof typeof DIALECTS;
const HOSTS = Object.keys(DIALECTS) as Host[];

const upstreams = {} as Record<Host, Upstream>;
let gateway: RunningGateway;

beforeAll(async () => {
  for (const host of HOSTS) upstreams[host] = startUpstream(DIALECTS[host].handler);
  const providers = Object.fromEntries(
    HOSTS.map((host) => [
      `x${host}`,
      {
        baseUrl: upstreams[host].url,
        models: ["m", "n"],
        does: { rerank: { [DIALECTS[host].dialect]: "/rank" } },
      },
    ]),
  );
  const prices = {
    "xcohere/m": { units: { search: 0.002 } },
    ...Object.fromEntries(
      ["xjina", "xvoyage", "xtei", "xvllm"].map((name) => [`${name}/m`, { input: 0.05, output: 0 }]),
    ),
  };
  gateway = await startGateway({ config: { providers, prices, admin: "off", state: "none" } });
});
afterAll(async () => {
  await gateway.stop();
  for (const host of HOSTS) upstreams[host].stop();
});

const documents = ["0.10 a", "1e-05 b", "0.9000 c", "0.5 d"];
const ORDER = [2, 3, 0, 1];

async function post(
  path: string,
  body: JsonObject,
): Promise<{ status: number; text: string; body: JsonObject }> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as JsonObject };
}

const lastBody = (host: Host) => bodyOf(upstreams[host].requests.at(-1)!);

describe.each(HOSTS)("at a host that speaks as %s does", (host) => {
  const model = `x${host}/m`;

  test("Cohere's second client gets all results, best first", async () => {
    const client = new CohereClientV2({ token: "k", environment: gateway.url });
    const answer = await client.rerank({ model, query: "q", documents });
    expect(answer.results.map(({ index }) => index)).toEqual(ORDER);
    expect(answer.results.map(({ relevanceScore }) => relevanceScore)).toEqual([0.9, 0.5, 0.1, 0.00001]);
  });

  test("Cohere's first client gets as many as it asks for, with their documents", async () => {
    const client = new CohereClient({ token: "k", environment: gateway.url });
    const answer = await client.rerank({ model, query: "q", documents, topN: 2, returnDocuments: true });
    expect(answer.results.map(({ index, document }) => [index, document?.text])).toEqual([
      [2, "0.9000 c"],
      [3, "0.5 d"],
    ]);
  });

  test("Voyage's client gets data with documents", async () => {
    const client = new VoyageAIClient({ apiKey: "k", environment: `${gateway.url}/v1` });
    const answer = await client.rerank({ model, query: "q", documents, topK: 3, returnDocuments: true });
    expect(answer.data?.map(({ index, document }) => [index, document])).toEqual([
      [2, "0.9000 c"],
      [3, "0.5 d"],
      [0, "0.10 a"],
    ]);
  });

  test("scores reach a client of vLLM with the digits of the host", async () => {
    const { text, body } = await post("/v1/rerank", { model, query: "q", documents });
    expect((body["results"] as JsonObject[]).map(({ index }) => index)).toEqual(ORDER);
    for (const score of ["0.9000", "0.5", "0.10", "1e-05"])
      expect(text).toContain(`"relevance_score":${score}`);
  });

  test("a client of text-embeddings-inference gets a list", async () => {
    const asked = { model, query: "q", texts: documents, return_text: true };
    const { body } = await post("/rerank", asked);
    expect((body as unknown as JsonObject[]).map(({ index, text }) => [index, text])).toEqual(
      ORDER.map((index) => [index, documents[index]]),
    );
  });

  test("scores of /v1/score come in the order of the texts", async () => {
    const { body } = await post("/v1/score", { model, text_1: "q", text_2: documents });
    expect((body["data"] as JsonObject[]).map(({ index, score }) => [index, score])).toEqual([
      [0, 0.1],
      [1, 0.00001],
      [2, 0.9],
      [3, 0.5],
    ]);
  });
});

test("a host of the client's dialect gets the client's bytes, with unknown members", async () => {
  await post("/v2/rerank", { model: "xcohere/m", query: "q", documents, priority: 3, later: { a: 1 } });
  expect(lastBody("cohere")).toEqual({ model: "m", query: "q", documents, priority: 3, later: { a: 1 } });
  await post("/v1/rerank", { model: "xjina/m", query: "q", documents, later: 1 });
  expect(lastBody("jina")).toEqual({ model: "m", query: "q", documents, later: 1 });
});

test("what another dialect has no place for is a loss, and refused in strict mode", async () => {
  const body = JSON.stringify({ model: "xtei/m", query: "q", documents, max_tokens_per_doc: 10, later: 1 });
  const headers = { "content-type": "application/json" };
  const told = await fetch(`${gateway.url}/v2/rerank`, { method: "POST", headers, body });
  expect(told.headers.get("x-weir-warnings")).toContain("dropped:max_tokens_per_doc");
  expect(told.headers.get("x-weir-warnings")).toContain("unknown:later");
  const before = upstreams.tei.requests.length;
  const strict = await fetch(`${gateway.url}/v2/rerank`, {
    ...{ method: "POST", body },
    headers: { ...headers, "x-weir-strict": "true" },
  });
  expect([strict.status, upstreams.tei.requests.length]).toEqual([400, before]);
});

test("objects with rank_fields become texts, and that is told", async () => {
  const objects = [
    { title: "0.2", body: "x" },
    { title: "0.7", body: "y" },
  ];
  const asked = { model: "xcohere/m", query: "q", documents: objects, rank_fields: ["body", "title"] };
  await post("/v1/rerank", asked);
  expect(lastBody("cohere")["documents"]).toEqual(["body: x\ntitle: 0.2", "body: y\ntitle: 0.7"]);
});

test("an image is refused where texts are ranked, with its place", async () => {
  const asked = {
    model: "xvoyage/m",
    query: "q",
    documents: ["0.1 a", { image: "https://images.example/a.png" }],
  };
  const { status, body } = await post("/v1/rerank", asked);
  expect([status, (body["error"] as JsonObject)["param"]]).toEqual([400, "documents[1]"]);
});

describe("an answer that does not fit the request is never passed on", () => {
  test.each([
    ["an index outside", '[{"index":4,"relevance_score":1}]', "sent the index 4 for 4 documents"],
    [
      "an index twice",
      '[{"index":1,"relevance_score":1},{"index":1,"relevance_score":0}]',
      "sent the index 1 twice",
    ],
    ["too few results", '[{"index":1,"relevance_score":1}]', "sent 1 results, and 4 were asked for"],
  ])("%s", async (_name, results, words) => {
    upstreams.cohere.answer(() => ({ ...json({}), body: `{"id":"x","results":${results},"meta":{}}` }));
    try {
      const { status, body } = await post("/v2/rerank", { model: "xcohere/m", query: "q", documents });
      expect(status).toBe(502);
      expect(body["message"]).toContain(words);
    } finally {
      upstreams.cohere.answer(hosts.cohere);
    }
  });
});

test("a host that does not sort is sorted", async () => {
  const results =
    '[{"index":0,"relevance_score":0.1},{"index":2,"relevance_score":0.9},{"index":3,"relevance_score":0.9},{"index":1,"relevance_score":-1}]';
  upstreams.jina.answer(() => ({ ...json({}), body: `{"results":${results}}` }));
  try {
    const { body } = await post("/v1/rerank", { model: "xjina/m", query: "q", documents });
    expect((body["results"] as JsonObject[]).map(({ index }) => index)).toEqual([2, 3, 0, 1]);
  } finally {
    upstreams.jina.answer(hosts.jina);
  }
});

test("models of other kinds are refused with what they lack, and a chat model is not asked", async () => {
  const { status, body } = await post("/v1/rerank", { model: "mock/chat", query: "q", documents });
  expect(status).toBe(404);
  expect(body["message"]).toBe(
    "The provider mock does not rerank documents with the model `mock/chat`, but with `mock/rerank`; send `mock/chat` to POST /v1/chat/completions.",
  );
  const chat = await post("/v1/chat/completions", {
    model: "xjina/m",
    messages: [{ role: "user", content: "hi" }],
  });
  expect([chat.status, (chat.body["error"] as JsonObject)["code"]]).toEqual([404, "model_not_found"]);
});

test("explain shows the request for the provider", async () => {
  const response = await fetch(`${gateway.url}/v1/explain?format=/v1/rerank`, {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify({ model: "xvoyage/m", query: "q", documents, top_n: 2 }),
  });
  const explained = (await response.json()) as { request: { body: JsonObject }; served_by: JsonObject };
  expect(explained.request.body).toEqual({ model: "m", query: "q", documents, top_k: 2 });
  expect(explained.served_by).toMatchObject({ lane: "translated", format: "voyage-rerank" });
});
