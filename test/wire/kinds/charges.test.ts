/** Charges that were computed by hand, through real calls, and through the price book where no endpoint serves the unit yet. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { NO_USAGE } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { CHARGE_STATES } from "../../../src/ledger/charge.ts";
import { chargeOf } from "../../../src/ledger/prices/charge-of.ts";
import { configuredRule } from "../../../src/ledger/prices/settings.ts";
import { type BookedCall, type BookedGateway, startBooked } from "../../helpers/books.ts";
import { HAND_CHARGES, type HandCharge, type Through } from "../../helpers/hand-charges.ts";
import { json, sse, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(120_000);

type Called = Exclude<Through, "book">;

/** How a charge goes through a call. */
interface Asked {
  path: string;
  body: JsonObject;
  /** The part of the config that says what the host does. */
  host: JsonObject;
  answer(counted: JsonObject): JsonObject | JsonObject[];
}

const ranked = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
];
const ranking = { path: "/v2/rerank", body: { query: "q", documents: ["a", "b"] } };
const ranks = (dialect: string) => ({ does: { rerank: { [dialect]: "/k" } } });
const judged = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } };
const judging = { path: "/v1/moderations", body: { input: "a" } };
const text = (finish: string | null) => ({ index: 0, text: "x", logprobs: null, finish_reason: finish });
const delta = (finish: string | null) => ({ index: 0, delta: { content: "x" }, finish_reason: finish });
const streamed = (choice: (finish: string | null) => JsonObject, usage: JsonObject) => [
  { id: "c", choices: [choice(null)] },
  { id: "c", choices: [choice("stop")] },
  { id: "c", choices: [], usage },
];
const completes = (format: string) => ({ does: { completion: { [format]: "/k" } } });
const message = { role: "assistant", content: "x" };
const hi = [{ role: "user", content: "hi" }];

const ASKED: Record<Called, Asked> = {
  cohere: {
    ...ranking,
    host: ranks("cohere-rerank"),
    answer: (meta) => ({ id: "c", results: ranked, meta }),
  },
  jina: { ...ranking, host: ranks("jina-rerank"), answer: (usage) => ({ results: ranked, usage }) },
  voyage: { ...ranking, host: ranks("voyage-rerank"), answer: (usage) => ({ data: ranked, usage }) },
  tei: {
    ...{ ...ranking, host: ranks("tei-rerank") },
    answer: () => ranked.map(({ index, relevance_score: score }) => ({ index, score })) as never,
  },
  score: {
    ...{ ...ranking, host: ranks("score") },
    answer: (usage) => ({
      data: ranked.map(({ index, relevance_score: score }) => ({ index, score })),
      usage,
    }),
  },
  moderations: {
    ...{ ...judging, host: { does: { moderation: { moderations: "/k" } } } },
    answer: (usage) => ({ id: "m", model: "m", results: [judged], usage }),
  },
  "mistral-moderations": {
    ...{ ...judging, host: { does: { moderation: { "mistral-moderations": "/k" } } } },
    answer: (usage) => ({ id: "m", model: "m", results: [judged], usage }),
  },
  decisions: {
    path: "/v1/decisions",
    body: { input: "a", questions: [{ type: "predicate", instructions: "b" }] },
    host: { does: { decision: { decisions: "/k" } } },
    answer: (usage) => ({ model: "m", answers: [{ type: "predicate", name: null, probability: 1 }], usage }),
  },
  completions: {
    ...{ path: "/v1/completions", body: { prompt: "a" }, host: completes("completions") },
    answer: (usage) => ({ id: "c", object: "text_completion", model: "m", choices: [text("stop")], usage }),
  },
  "completions-streamed": {
    ...{ path: "/v1/completions", body: { prompt: "a", stream: true }, host: completes("completions") },
    answer: (usage) => streamed(text, usage),
  },
  fim: {
    ...{ path: "/v1/completions", body: { prompt: "a", suffix: "b" }, host: completes("fim") },
    answer: (usage) => ({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage }),
  },
  "fim-streamed": {
    ...{
      path: "/v1/fim/completions",
      body: { prompt: "a", suffix: "b", stream: true },
      host: completes("fim"),
    },
    answer: (usage) => streamed(delta, usage),
  },
  embeddings: {
    ...{ path: "/v1/embeddings", body: { input: "a" }, host: { embeds: { embeddings: "/k" } } },
    answer: (usage) => ({ object: "list", model: "m", data: [{ index: 0, embedding: [1] }], usage }),
  },
  chat: {
    ...{ path: "/v1/chat/completions", body: { messages: hi }, host: { speaks: "chat-completions" } },
    answer: (usage) => ({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage }),
  },
  "chat-streamed": {
    path: "/v1/chat/completions",
    body: { messages: hi, stream: true },
    host: { speaks: "chat-completions" },
    answer: (usage) => streamed(delta, usage),
  },
  messages: {
    path: "/v1/messages",
    body: { messages: hi, max_tokens: 9 },
    host: { speaks: "messages" },
    answer: (usage) => ({
      ...{ id: "m", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
      ...{ content: [{ type: "text", text: "x" }], usage },
    }),
  },
};

const CALLED = HAND_CHARGES.filter((row): row is HandCharge & { through: Called } => row.through !== "book");

let upstream: Upstream;
let gateway: BookedGateway;
let calls: BookedCall[];
let spent: number;

beforeAll(async () => {
  upstream = startUpstream(({ body, method }) => {
    if (method === "GET") return json({ data: [] });
    const { model } = JSON.parse(body.toString()) as { model?: string };
    // text-embeddings-inference gets no model: its one row is free.
    const row =
      CALLED[Number((model ?? `m${CALLED.findIndex(({ through }) => through === "tei")}`).slice(1))]!;
    const answer = ASKED[row.through].answer(row.counted as JsonObject);
    if (!row.through.endsWith("streamed")) return json(answer);
    return sse([
      ...(answer as object[]).map((event) => `data: ${JSON.stringify(event)}\n\n`),
      "data: [DONE]\n\n",
    ]);
  });
  const hosts = Object.entries(ASKED).map(([name, { host }]) => [
    `h-${name}`,
    { baseUrl: upstream.url, models: ["m*"], ...host },
  ]);
  gateway = await startBooked({
    providers: Object.fromEntries(hosts),
    prices: Object.fromEntries(CALLED.map(({ through, price }, at) => [`h-${through}/m${at}`, price])),
  });
  for (const [at, { name, through }] of CALLED.entries()) {
    const { path, body } = ASKED[through];
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: `h-${through}/m${at}`, ...body }),
    });
    const said = await response.text();
    if (response.status !== 200) throw new Error(`${name}: ${response.status} ${said}`);
  }
  const booked = await gateway.finish();
  calls = booked.calls;
  spent = [...booked.spent.values()][0] ?? 0;
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test("the table has at least 40 rows, each with a name of its own", () => {
  expect(new Set(HAND_CHARGES.map(({ name }) => name)).size).toBe(HAND_CHARGES.length);
  expect(HAND_CHARGES.length).toBeGreaterThanOrEqual(40);
});

describe("through a call", () => {
  test.each(CALLED.map((row, at) => [row.name, row.sum, row, at] as const))(
    "%s: %s",
    (_name, _sum, { cost, state = "metered" }, at) => {
      expect([calls[at]!.cost, CHARGE_STATES[calls[at]!.state]!]).toEqual([cost, state]);
    },
  );

  test("the calls are booked once each", () => {
    expect(calls.length).toBe(CALLED.length);
    expect(calls.reduce((sum, { cost }) => sum + cost, 0)).toBe(
      CALLED.reduce((sum, { cost }) => sum + cost, 0),
    );
  });
});

describe("through the price book", () => {
  test.each(
    HAND_CHARGES.filter(({ through }) => through === "book").map((row) => [row.name, row.sum, row] as const),
  )("%s: %s", (_name, _sum, { price, counted, cost, state = "metered" }) => {
    const rule = { ref: "r", ...configuredRule(price, { provider: "p", model: "m" }, undefined)! };
    const usage = { ...NO_USAGE, ...counted, known: "final" as const };
    expect(chargeOf({ reach: "sent", usage }, rule)).toMatchObject({ cost, state });
  });
});
