/** Rankings for clients that name no model, and tokens for clients that count them at a host that counts searches. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../../helpers/gateway.ts";
import * as hosts from "../../helpers/rerank-hosts.ts";
import { startUpstream, type Upstream } from "../../helpers/upstream.ts";

let cohere: Upstream;
let tei: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  cohere = startUpstream(hosts.cohere);
  tei = startUpstream(hosts.tei);
  const host = ({ url }: Upstream, dialect: string) => ({
    ...{ baseUrl: url, models: ["m"] },
    does: { rerank: { [dialect]: "/rank" } },
  });
  gateway = await startGateway({
    config: {
      ...{ admin: "off", state: "none" },
      providers: { xcohere: host(cohere, "cohere-rerank"), xtei: host(tei, "tei-rerank") },
      routes: { rerank: ["xtei/m"] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  cohere.stop();
  tei.stop();
});

async function post(path: string, body: JsonObject, url = gateway.url) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const texts = ["0.10 a", "0.9 b"];

test("a client of text-embeddings-inference names no model: the model `rerank` answers it", async () => {
  const { status, body } = await post("/rerank", { query: "q", texts });
  expect([status, (body as unknown as JsonObject[]).map(({ index }) => index)]).toEqual([200, [1, 0]]);
  expect(hosts.bodyOf(tei.requests.at(-1)!)).toMatchObject({ query: "q", texts });
});

test("without such a model the error names it, and other clients must name theirs", async () => {
  const bare = await startGateway({ config: { admin: "off", state: "none" } });
  try {
    const { status, body } = await post("/rerank", { query: "q", texts }, bare.url);
    expect([status, (body["error"] as JsonObject)["code"]]).toEqual([404, "model_not_found"]);
    expect(body["message"]).toContain("`rerank`");
  } finally {
    await bare.stop();
  }
  for (const [path, asked] of [
    ["/v1/rerank", { query: "q", documents: texts }],
    ["/v2/rerank", { query: "q", documents: texts }],
    ["/v1/score", { text_1: "q", text_2: texts }],
  ] as const) {
    const { status, body } = await post(path, asked);
    expect([status, (body["error"] as JsonObject)["param"]]).toEqual([400, "model"]);
  }
});

test("a host that counts searches: clients that read tokens get an estimate, and never 0", async () => {
  const documents = ["0.1 several words of a document", "0.2 and of another one"];
  const jina = await post("/v1/rerank", { model: "xcohere/m", query: "some words", documents });
  const voyage = await post("/v1/rerank", { model: "xcohere/m", query: "some words", documents, top_k: 1 });
  const score = await post("/v1/score", { model: "xcohere/m", text_1: "some words", text_2: documents });
  for (const { body } of [jina, voyage, score]) {
    const { total_tokens: total } = body["usage"] as { total_tokens: number };
    expect([total > 8, total < 40]).toEqual([true, true]);
  }
});
