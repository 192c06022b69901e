/** A plugin file as the provider of each kind: as a host with its own signature, and as a program. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { CohereClientV2 } from "cohere-ai";
import type { JsonObject } from "../../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../../helpers/gateway.ts";
import { collect, openaiClient } from "../../helpers/sdk.ts";
import { bodyOf, cohere } from "../../helpers/rerank-hosts.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(60_000);

const hostFile = (url: string) => `import { definePlugin } from "weir";
export default definePlugin({
  name: "hosts",
  providers: [{
    name: "hosts",
    baseUrl: "${url}",
    models: ["*"],
    authorize: () => ({ "x-signature": "signed" }),
    does: {
      rerank: { "cohere-rerank": { path: "/rank", models: ["rank"] } },
      moderation: { moderations: { path: "/judge", models: ["judge"] } },
      decision: { decisions: { path: "/decide", models: ["decide"] } },
      completion: { completions: { path: "/complete", models: ["complete"] } },
    },
  }],
});`;

const PROGRAMS = `import { definePlugin, GatewayError } from "weir";
export default definePlugin({
  name: "programs",
  providers: [{
    name: "programs",
    models: ["*"],
    async *generate(request) {
      if (!request.completion) throw new GatewayError("invalid-request", "It only continues texts.");
      const { prompt, suffix = "" } = request.completion;
      yield { type: "message-start", id: "p", model: "programs" };
      yield { type: "block-start", index: 0, block: { type: "text" } };
      yield { type: "block-delta", index: 0, delta: prompt.toUpperCase() };
      yield { type: "block-delta", index: 0, delta: suffix };
      yield { type: "block-end", index: 0 };
      yield { type: "message-end", reason: { kind: "stop" },
        usage: { input: 4, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0, known: "final" } };
    },
    does: {
      completion: true,
      rerank({ query, documents }) {
        if (query.startsWith("{")) return JSON.parse(query);
        if (query === "bad index") return { results: [{ index: 7, score: 1 }] };
        if (query === "nothing") return undefined;
        if (query === "throws") throw new Error("a-secret-of-the-plugin");
        if (query === "refuses") throw new GatewayError("quota", "No more rankings today.");
        return {
          results: documents.map(({ text }, index) => ({ index, score: text.length })),
          usage: { units: { search: 2 } },
        };
      },
      moderation({ inputs }) {
        if (inputs[0].texts[0].startsWith("{")) return JSON.parse(inputs[0].texts[0]);
        return {
          results: inputs.map(({ texts }) => ({
            categories: { rude: texts.join().includes("rude"), toString: false },
            scores: { rude: 0.5, constructor: 1 },
          })),
          usage: { input: 3 },
        };
      },
      decision({ input, questions }) {
        if (input.startsWith("{")) return JSON.parse(input);
        return { answers: questions.map(({ name }) => ({ type: "refusal", name: name ?? null })),
          usage: { input: 5, output: 1 } };
      },
    },
  }],
});`;

let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream((request) => {
    if (request.path === "/rank") return cohere(request);
    const body = bodyOf(request);
    if (request.path === "/judge")
      return json({
        id: "m",
        model: "j",
        results: [{ flagged: true, categories: { hate: true }, category_scores: {} }],
      });
    if (request.path === "/decide")
      return json({
        model: "d",
        answers: [{ type: "refusal", name: null }],
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    return json({
      ...{ id: "c", object: "text_completion", created: 1, model: "m" },
      choices: [{ index: 0, text: `${String(body["prompt"])} on`, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  gateway = await startGateway({
    config: { admin: "off", state: "none", log: { format: "json" } },
    plugins: { "hosts.ts": hostFile(upstream.url), "programs.ts": PROGRAMS },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function post(path: string, body: JsonObject) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as JsonObject };
}

const questions = [{ type: "predicate" as const, instructions: "Is it?" }];
const rank = (model: string, query = "q", documents = ["0.1 a", "0.9 bb", "0.5 ccc"]) =>
  new CohereClientV2({ token: "k", environment: gateway.url, maxRetries: 0 }).rerank({
    model,
    query,
    documents,
  });

describe("a plugin file as a host", () => {
  test("ranks, and signs its requests", async () => {
    const { results } = await rank("hosts/rank");
    expect(results.map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(upstream.requests.at(-1)!.headers.get("x-signature")).toBe("signed");
  });

  test("moderates, decides and continues texts", async () => {
    const client = openaiClient(gateway.url);
    const { results } = await client.moderations.create({ model: "hosts/judge", input: "a" });
    expect([results[0]!.flagged, results[0]!.categories.hate]).toEqual([true, true]);
    const { answers } = await client.decisions.create({ model: "hosts/decide", input: "a", questions });
    expect(answers[0]!.type).toBe("refusal");
    const { choices } = await client.completions.create({ model: "hosts/complete", prompt: "go" });
    expect(choices[0]!.text).toBe("go on");
  });

  test("a model of one endpoint does nothing else", async () => {
    expect((await post("/v1/moderations", { model: "hosts/rank", input: "a" })).status).toBe(404);
    expect((await post("/v2/rerank", { model: "hosts/judge", query: "q", documents: ["a"] })).status).toBe(
      404,
    );
  });
});

describe("a plugin file as a program", () => {
  test("ranks: weir sorts and cuts what it gives, and its searches are those of the answer", async () => {
    const { body, headers } = await post("/v2/rerank", {
      ...{ model: "programs/x", query: "q", documents: ["aa", "a", "aaa"], top_n: 2 },
    });
    expect((body["results"] as JsonObject[]).map(({ index }) => index)).toEqual([2, 0]);
    expect(body["meta"]).toMatchObject({ billed_units: { search_units: 2 } });
    expect(headers.get("x-weir-lane")).toBe("generated");
  });

  test.each([
    ["bad index", 502, "sent the index 7"],
    ["nothing", 500, ""],
    ["throws", 500, ""],
    ["refuses", 429, "No more rankings today."],
  ])("a program that %s is a %i", async (query, status, words) => {
    const { status: seen, text } = await post("/v2/rerank", { model: "programs/x", query, documents: ["a"] });
    expect([seen, text]).toEqual([status, expect.stringContaining(words)]);
    expect(text).not.toContain("a-secret-of-the-plugin");
  });

  test("moderates, whatever its categories are called", async () => {
    const { status, body } = await post("/v1/moderations", { model: "programs/x", input: ["nice", "rude"] });
    expect(status).toBe(200);
    const results = body["results"] as {
      flagged: boolean;
      categories: JsonObject;
      category_scores: JsonObject;
    }[];
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(results[0]!.categories).toMatchObject({ rude: false, toString: false, constructor: false });
    expect(results[0]!.category_scores).toMatchObject({ rude: 0.5, constructor: 1, toString: 0 });
  });

  test.each<[gives: string, status: number]>([
    ["{}", 502],
    ['{"results":"x","answers":"x"}', 502],
    ['{"results":[null],"answers":[5]}', 502],
    ['{"results":[{}],"answers":[]}', 502],
    ['{"results":[{"index":0,"score":"high","categories":{"rude":"yes"},"scores":{}}]}', 502],
    // A wrong count would be a wrong charge, or none.
    ...[
      '{"input":-5}',
      '{"input":"many"}',
      '{"output":1.5}',
      '{"units":{"search":-1}}',
      '{"units":{"search":1.5}}',
      "7",
    ].map((usage): [string, number] => [
      `{"results":[{"index":0,"score":1,"categories":{},"scores":{}}],"answers":[{"type":"refusal"}],"usage":${usage}}`,
      500,
    ]),
  ])("that gives %s has failed, whatever it does", async (gives, status) => {
    const seen = [
      await post("/v2/rerank", { model: "programs/x", query: gives, documents: ["a"] }),
      await post("/v1/moderations", { model: "programs/x", input: gives }),
      await post("/v1/decisions", { model: "programs/x", input: gives, questions }),
    ];
    expect(seen.map((one) => one.status)).toEqual([status, status, status]);
    for (const { body } of seen) expect((body["error"] as JsonObject)["message"]).toContain("provider p");
  });

  test("decides", async () => {
    const asked = { model: "programs/x", input: "a", questions };
    const { answers, usage } = await openaiClient(gateway.url).decisions.create(asked);
    expect([answers, usage.total_tokens]).toEqual([[{ type: "refusal", name: null }], 6] as never);
  });

  test("continues texts, streamed and whole, with the text behind them", async () => {
    const client = openaiClient(gateway.url);
    const asked = { model: "programs/x", prompt: "abc", suffix: "!" };
    const { choices, usage } = await client.completions.create(asked);
    expect([choices[0]!.text, usage!.total_tokens]).toEqual(["ABC!", 6]);
    const events = await collect(await client.completions.create({ ...asked, stream: true }));
    expect(events.map((event) => event.choices[0]?.text ?? "").join("")).toBe("ABC!");
    const { body } = await post("/v1/fim/completions", asked);
    expect(body["choices"]).toMatchObject([{ message: { content: "ABC!" } }]);
  });
});
