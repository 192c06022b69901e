/** What calls of the kinds hold of a hard budget: at least what they cost, and a budget of one search serves one search. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { startBooked } from "../../helpers/books.ts";
import { budget } from "../../helpers/ledger.ts";
import { type Handler, json, startUpstream } from "../../helpers/upstream.ts";

setDefaultTimeout(120_000);

const ALL = budgetAccount("all", 0);
/** Nano-dollars of a search at $2 for a thousand. */
const SEARCH = 2_000_000;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

async function start(does: JsonObject, price: object, limit: number, handler: Handler) {
  const upstream = startUpstream(handler);
  const gateway = await startBooked(
    { providers: { host: { baseUrl: upstream.url, models: ["m"], does } }, prices: { "host/m": price } },
    [budget("all", limit)],
  );
  running.push(gateway, upstream);
  const ask = (path: string, body: JsonObject) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "host/m", ...body }),
    });
  return { gateway, upstream, ask };
}

const searched: Handler = async () => {
  await Bun.sleep(5);
  return json({
    ...{ id: "c", results: [{ index: 0, relevance_score: 1 }] },
    meta: { billed_units: { search_units: 1 } },
  });
};

test("a hard budget of one search serves one of 200 calls at once", async () => {
  const does = { rerank: { "cohere-rerank": "/k" } };
  const { gateway, upstream, ask } = await start(does, { units: { search: 0.002 } }, SEARCH, searched);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => ask("/v2/rerank", { query: "q", documents: ["a"] })),
  );
  const served = answers.filter(({ status }) => status === 200).length;
  expect([served, upstream.requests.filter(({ method }) => method === "POST").length]).toEqual([1, 1]);
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  expect((await gateway.finish()).spent.get(ALL)).toBe(SEARCH);
});

test("a search less than that serves none, and one that fails gives its hold back", async () => {
  const does = { rerank: { "cohere-rerank": "/k" } };
  const poor = await start(does, { units: { search: 0.002 } }, SEARCH - 1, searched);
  expect((await poor.ask("/v2/rerank", { query: "q", documents: ["a"] })).status).toBe(429);
  expect(poor.upstream.requests.filter(({ method }) => method === "POST")).toEqual([]);
  const { ask, upstream } = await start(does, { units: { search: 0.002 } }, SEARCH, () =>
    json({ message: "no" }, 400),
  );
  expect((await ask("/v2/rerank", { query: "q", documents: ["a"] })).status).toBe(400);
  upstream.answer(searched);
  expect((await ask("/v2/rerank", { query: "q", documents: ["a"] })).status).toBe(200);
});

/** About 100 tokens, and never more than 200. */
const LONG = "a sentence of several words ".repeat(20);

test.each<[name: string, path: string, does: JsonObject, body: JsonObject]>([
  [
    "the texts of a list of pairs",
    "/v1/score",
    { rerank: { score: "/k" } },
    { text_1: ["a", LONG, LONG, LONG], text_2: ["a", "b", "c", "d"] },
  ],
  [
    "a query, with each of the documents",
    "/v1/rerank",
    { rerank: { "jina-rerank": "/k" } },
    { query: LONG, documents: ["a", "b", "c", "d"] },
  ],
  [
    "the fields that are joined",
    "/v1/rerank",
    { rerank: { "jina-rerank": "/k" } },
    { query: "q", documents: [{ a: LONG, b: LONG, c: LONG }], rank_fields: ["a", "b", "c"] },
  ],
  [
    "a list of inputs",
    "/v1/moderations",
    { moderation: { moderations: "/k" } },
    { input: [LONG, LONG, LONG] },
  ],
  [
    "a conversation",
    "/v1/chat/moderations",
    { moderation: { "mistral-chat-moderations": "/k" } },
    {
      input: [
        { role: "user", content: LONG },
        { role: "assistant", content: LONG },
        { role: "user", content: LONG },
      ],
    },
  ],
])("%s are held", async (_name, path, does, body) => {
  // At $1 a token the call costs 300 at least.
  const { ask, upstream } = await start(does, { input: 1_000_000, output: 0 }, 250 * 1e9, () => json({}));
  const { status } = await ask(path, body);
  expect([status, upstream.requests.filter(({ method }) => method === "POST").length]).toEqual([429, 0]);
});

test("of two numbers of completions the larger one is held", async () => {
  const answer = json({
    ...{ id: "c", object: "text_completion", created: 1, model: "m" },
    choices: [{ index: 0, text: "x", logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const does = { completion: { completions: "/k" } };
  // Room for four texts of a thousand tokens at $1 each, and for input.
  const { ask } = await start(does, { input: 1_000_000, output: 1_000_000 }, 4_500 * 1e9, () => answer);
  const asked = { prompt: "a", max_tokens: 1000 };
  expect((await ask("/v1/completions", { ...asked, best_of: 5, n: 2 })).status).toBe(429);
  expect((await ask("/v1/completions", { ...asked, prompt: ["a", "b"], best_of: 3, n: 2 })).status).toBe(429);
  expect((await ask("/v1/completions", { ...asked, best_of: 4, n: 2 })).status).toBe(200);
});
