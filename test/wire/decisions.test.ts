/** Decisions by OpenAI's SDK, at a fake of OpenAI and at the mock. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const ANSWER = {
  model: "gpt-decide-2026-10-01",
  answers: [
    { type: "predicate", name: "angry", probability: 0.25 },
    { type: "refusal", name: null },
  ],
  usage: {
    ...{ input_tokens: 1000, input_tokens_details: { cache_write_tokens: 0, cached_tokens: 400 } },
    ...{ output_tokens: 10, output_tokens_details: { reasoning_tokens: 4 }, total_tokens: 1010 },
  },
};

let openai: Upstream;
let gateway: BookedGateway;

beforeAll(async () => {
  openai = startUpstream(() => json(ANSWER));
  gateway = await startBooked({
    providers: { openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } },
    prices: { "openai/gpt-decide": { input: 1, cacheRead: 0.1, output: 2 } },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
});

const questions = [
  { type: "predicate" as const, name: "angry", instructions: "Is the customer angry?" },
  { type: "score" as const, instructions: "How urgent?", levels: [{ label: "low" }, { label: "high" }] },
];

test("the client's bytes reach OpenAI, and its answer the client, refusals too", async () => {
  const input = [{ role: "user" as const, content: "Where is my order?" }];
  const asked = { model: "openai/gpt-decide", input, questions, prompt_cache_key: "c" };
  const decision = await openaiClient(gateway.url).decisions.create(asked);
  expect(decision as unknown as typeof ANSWER).toEqual(ANSWER);
  const sent = JSON.parse(Buffer.from(openai.requests.at(-1)!.body).toString()) as JsonObject;
  expect(sent).toEqual({ ...asked, model: "gpt-decide" } as unknown as JsonObject);
  expect(openai.requests.at(-1)!.path).toBe("/v1/decisions");
});

test("an answer that lacks one is a failure", async () => {
  const asked = { model: "openai/gpt-decide", input: "a", questions: questions.slice(0, 1) };
  const error = await seeError(() => openaiClient(gateway.url).decisions.create(asked));
  expect([error.status, error.message]).toEqual([502, expect.stringContaining("2 answers to 1 questions")]);
});

test("the mock chooses by words", async () => {
  const client = openaiClient(gateway.url);
  const { answers } = await client.decisions.create({
    ...{ model: "mock/decision", input: "my parcel is late" },
    questions: [
      { type: "choice", instructions: "About what?", choices: [{ value: "invoice" }, { value: "parcel" }] },
    ],
  });
  expect(answers[0]).toMatchObject({ type: "choice", choice: "parcel" });
});

test.each([
  [{ input: "a", questions: [] }, "questions"],
  [{ questions }, "input"],
  [{ input: "a", questions: [{ type: "choice", instructions: "b" }] }, "questions[0].choices"],
  [{ input: "a", questions: [{ type: "choice", instructions: "b", choices: [] }] }, "questions[0].choices"],
  [{ input: "a", questions: [{ type: "score", instructions: "b", levels: [] }] }, "questions[0].levels"],
])("%j is refused with the place of its fault", async (body, param) => {
  const response = await fetch(`${gateway.url}/v1/decisions`, {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify({ model: "mock/decision", ...body }),
  });
  const { error } = (await response.json()) as { error: JsonObject };
  expect([response.status, error["param"]]).toEqual([400, param]);
});

test("cached tokens have their price", async () => {
  const { calls } = await gateway.finish();
  const booked = calls.filter(({ status, cost }) => status !== 400 && cost !== 27_000);
  // 600 tokens in at $1, 400 from the cache at $0.1 and 10 out at $2 a million; the failed answer was paid as well.
  expect(booked.map(({ cost, state }) => [cost, CHARGE_STATES[state]!])).toEqual([
    [660_000, "metered"],
    [660_000, "metered"],
  ]);
});
