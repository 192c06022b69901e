/** Interactions by Google's SDK, at a fake of Google with two accounts, at the mock and at hosts of other formats. */
import { GoogleGenAI } from "@google/genai";
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { budgetAccount } from "../../src/ledger/record.ts";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { bodyOf } from "../helpers/google-caches.ts";
import { type GoogleInteractions, startInteractions } from "../helpers/google-interactions.ts";
import { budget } from "../helpers/ledger.ts";
import { collect, seeError } from "../helpers/sdk.ts";
import { json, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const KEYS = { ann: "weir-key-of-ann-0123456789", bob: "weir-key-of-bob-0123456789" };
/** Dollars for a million tokens. */
const PRICE = { input: 1, cacheRead: 0.1, output: 10 };
/** 600 fresh tokens, 400 of the cache, 80 of output. Nano-dollars. */
const COST = 600 * 1_000 + 400 * 100 + 80 * 10_000;

const clientOf = (url: string, apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function configOf(google: GoogleInteractions, more: object = {}) {
  const deployments = ["one", "two"].map((name) => ({ name, apiKey: `key-of-account-${name}` }));
  return {
    providers: { gemini: { baseUrl: google.url, deployments, traits: { storesAnswers: true } } },
    aliases: { thinker: "gemini/gemini-3-pro-preview" },
    prices: { "gemini/gemini-3-pro-preview": PRICE },
    ...more,
  };
}

describe("with two keys", () => {
  let google: GoogleInteractions;
  let gateway: BookedGateway;
  let ann: GoogleGenAI;
  let bob: GoogleGenAI;

  beforeAll(async () => {
    google = startInteractions();
    const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
    gateway = await startBooked(configOf(google, { keys }));
    ann = clientOf(gateway.url, KEYS.ann);
    bob = clientOf(gateway.url, KEYS.bob);
  });
  afterAll(async () => {
    await gateway.stop();
    google.stop();
  });

  const ask = (client: GoogleGenAI, more: object = {}) =>
    client.interactions.create({ model: "thinker", input: "Who?", ...more });

  test("Google gets the client's bytes with its own name of the model, and the client Google's answer", async () => {
    const answer = await ask(ann, {
      generation_config: { thinking_level: "low" },
      tools: [{ type: "google_search" }],
    });
    expect(answer).toMatchObject({ status: "completed", output_text: "A red cat." });
    const { path } = google.requests.at(-1)!;
    expect(path).toBe("/v1beta/interactions");
    expect(bodyOf(google.requests.at(-1)!)).toMatchObject({
      ...{ model: "gemini-3-pro-preview", input: "Who?", tools: [{ type: "google_search" }] },
    });
  });

  test("a stream passes as Google writes it, and can be continued", async () => {
    const events = await collect(
      await ann.interactions.create({ model: "thinker", input: "Who?", stream: true }),
    );
    const types = (events as { event_type: string }[]).map(({ event_type }) => event_type);
    expect(types).toEqual([
      ...["interaction.created", "step.start", "step.delta", "step.delta", "step.stop"],
      "interaction.completed",
    ]);
    const { interaction } = events[0] as { interaction: { id: string } };
    expect(await ask(ann, { previous_interaction_id: interaction.id })).toMatchObject({
      status: "completed",
    });
  });

  test("what continues an interaction goes to the account that has it, each time", async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await ask(ann, { input: `Who, for the ${round}th time?` });
      expect(await ask(ann, { previous_interaction_id: id })).toMatchObject({ status: "completed" });
      expect(await ann.interactions.get(id)).toMatchObject({ id });
    }
    expect(new Set([...google.stored.keys()].map((key) => key.split(" ")[0])).size).toBe(2);
  });

  test("another key finds it by no operation, and Google is not asked", async () => {
    const { id } = await ask(ann);
    const before = google.requests.length;
    for (const attempt of [
      () => bob.interactions.get(id),
      () => bob.interactions.cancel(id),
      () => bob.interactions.delete(id),
    ])
      expect((await seeError(attempt)).status).toBe(404);
    const error = await seeError(() => ask(bob, { previous_interaction_id: id }));
    expect([error.status, error.message]).toEqual([400, expect.stringContaining("not found")]);
    expect(google.requests.length).toBe(before);
    await ann.interactions.delete(id);
    expect((await seeError(() => ann.interactions.get(id))).status).toBe(404);
  });

  test("one in the background can be read and cancelled", async () => {
    const running = await ask(ann, { background: true });
    expect(running.status).toBe("in_progress");
    expect(await ann.interactions.cancel(running.id)).toMatchObject({ status: "cancelled" });
  });

  test.each([
    [{ agent: "deep-research", input: "Who?" }, "agent"],
    [{ model: "thinker" }, "input"],
    [{ model: "thinker", input: [] }, "input"],
    [{ model: "thinker", input: "Who?", generation_config: { temperature: "hot" } }, "temperature"],
  ])("%j is refused in the words of Google", async (body, member) => {
    const response = await fetch(`${gateway.url}/v1beta/interactions`, {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { "content-type": "application/json", "x-goog-api-key": KEYS.ann },
    });
    const { error } = (await response.json()) as { error: { status: string; message: string } };
    expect([response.status, error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(member);
  });
});

test("answers and streams cost what Google counts, one in the background when it is read", async () => {
  const google = startInteractions();
  const gateway = await startBooked(configOf(google));
  stops.push(gateway.stop, google.stop);
  const { interactions } = clientOf(gateway.url, "unused");
  const asked = { model: "thinker", input: "Who?" };
  await interactions.create(asked);
  await collect(await interactions.create({ ...asked, stream: true }));
  const { id } = await interactions.create({ ...asked, background: true });
  await interactions.get(id);
  await interactions.get(id);
  const { calls } = await gateway.finish();
  const costs = calls.map(({ cost }) => cost);
  expect([costs[0], costs[1], costs[3], costs[4]]).toEqual([COST, COST, COST, 0]);
  expect(CHARGE_STATES[calls[0]!.state]).toBe("metered");
});

test("a hard budget is never over, however many ask at once", async () => {
  const google = startInteractions(20);
  const gateway = await startBooked(configOf(google), [budget("all", 20 * COST)]);
  stops.push(gateway.stop, google.stop);
  const { interactions } = clientOf(gateway.url, "unused");
  const input = "word ".repeat(1_000);
  const ask = () =>
    interactions.create({ model: "thinker", input, generation_config: { max_output_tokens: 100 } });
  const answers = await Promise.allSettled(Array.from({ length: 60 }, ask));
  const served = answers.filter(({ status }) => status === "fulfilled").length;
  expect(served).toBeGreaterThan(0);
  expect(served).toBeLessThanOrEqual(20);
  expect(google.requests.length).toBe(served);
  const { spent } = await gateway.finish();
  expect(spent.get(budgetAccount("all", 0))).toBe(served * COST);
});

describe("at a provider of another format", () => {
  let gateway: BookedGateway;
  let client: GoogleGenAI;
  beforeAll(async () => {
    gateway = await startBooked({});
    client = clientOf(gateway.url, "unused");
  });
  afterAll(() => gateway.stop());

  test("the mock answers, whole and streamed", async () => {
    const whole = await client.interactions.create({ model: "mock/echo", input: "a red cat" });
    expect(whole).toMatchObject({ status: "completed", output_text: "a red cat" });
    expect(whole.usage!.total_input_tokens).toBeGreaterThan(0);
    const stream = await client.interactions.create({ model: "mock/echo", input: "a red cat", stream: true });
    const events = await collect(stream);
    const pieces = (events as { delta?: { text?: string } }[]).map(({ delta }) => delta?.text ?? "");
    expect(pieces.join("")).toBe("a red cat");
    expect(events.at(-1)).toMatchObject({
      event_type: "interaction.completed",
      interaction: { status: "completed" },
    });
  });

  test("functions are called, and their results understood", async () => {
    const tools = [
      {
        ...{ type: "function" as const, name: "weather", description: "The weather" },
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ];
    const first = await client.interactions.create({ model: "mock/tools", input: "How is it?", tools });
    expect(first.status).toBe("requires_action");
    const call = first.steps!.find(({ type }) => type === "function_call") as { id: string; name: string };
    expect(call).toMatchObject({ name: "weather", arguments: { city: expect.any(String) } });
    const result = { type: "function_result" as const, call_id: call.id, name: "weather", result: "sunny" };
    const second = await client.interactions.create({
      ...{ model: "mock/tools", tools, previous_interaction_id: first.id, input: [result] },
    });
    expect(second.status).toBe("completed");
    expect(second.output_text).toContain("sunny");
  });

  test("weir keeps the conversation of a provider that stores none", async () => {
    const { interactions } = client;
    const first = await interactions.create({ model: "mock/echo", input: "I am Zoe" });
    const next = { model: "mock/recall", input: "Who am I?", previous_interaction_id: first.id };
    expect((await interactions.create(next)).output_text).toContain("I am Zoe");
    expect(await interactions.get(first.id)).toMatchObject({ id: first.id, output_text: "I am Zoe" });
    await interactions.delete(first.id);
    expect((await seeError(() => interactions.create(next))).status).toBe(400);
  });
});

test("a host of chat-completions gets the conversation, and what it cannot get is refused or told", async () => {
  const chat = startUpstream(() =>
    json({
      ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content: "Zoe." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    }),
  );
  const gateway = await startBooked({
    providers: { host: { speaks: "chat-completions", baseUrl: `${chat.url}/v1`, models: ["m"] } },
  });
  stops.push(gateway.stop, chat.stop);
  const post = (more: object) =>
    fetch(`${gateway.url}/v1beta/interactions`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ model: "host/m", ...more }),
    });
  const input = [
    { type: "user_input", content: [{ type: "text", text: "I am Zoe" }] },
    { type: "model_output", content: [{ type: "text", text: "Hi" }] },
    { type: "function_call", id: "c1", name: "look", arguments: { at: "Zoe" } },
    { type: "function_result", call_id: "c1", name: "look", result: { seen: true } },
    { type: "user_input", content: "Who am I?" },
  ];
  const told = await post({ input, system_instruction: "Be brief.", labels: { team: "red" } });
  const answer = (await told.json()) as { steps: unknown[]; usage: object };
  expect(answer.steps).toEqual([{ type: "model_output", content: [{ type: "text", text: "Zoe." }] }]);
  expect(answer.usage).toMatchObject({ total_input_tokens: 7, total_output_tokens: 2, total_tokens: 9 });
  expect([...told.headers.values()].join(" ")).toContain("labels");
  const sent = bodyOf(chat.requests[0]!) as unknown as { messages: { role: string; content: unknown }[] };
  expect(sent.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(sent.messages[2]).toMatchObject({ content: "Hi", tool_calls: [{ id: "c1" }] });
  expect(sent.messages[3]).toMatchObject({ content: '{"seen":true}' });
  const refused = [
    { background: true },
    { cached_content: "cachedContents/x" },
    { webhook_config: { uris: ["u"] } },
  ];
  for (const more of refused) {
    const response = await post({ input: "a", ...more });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining(Object.keys(more)[0]!),
    ]);
  }
  expect(chat.requests.length).toBe(1);
});
