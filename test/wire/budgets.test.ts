/** Budgets and limits of running gateways: what is refused and how, what is cut, and what is booked. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { budget, rate } from "../helpers/ledger.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { type Handler, json, sse, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(30_000);

const ALL = budgetAccount("all", 0);
const PRICES = { "host/*": { input: 1, output: 2 }, "other/*": { input: 1, output: 2 } };

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

interface Started {
  gateway: BookedGateway;
  upstream: Upstream;
}

async function start(
  handler: Handler,
  budgets: Parameters<typeof startBooked>[1],
  config: Record<string, unknown> = {},
  rates: Parameters<typeof startBooked>[2] = [],
): Promise<Started> {
  const upstream = startUpstream(handler);
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["small", "large"] };
  const other = { ...host, models: ["spare"] };
  const gateway = await startBooked(
    { providers: { host, other }, prices: PRICES, ...config },
    budgets,
    rates,
  );
  running.push(gateway, upstream);
  return { gateway, upstream };
}

const answer = (input: number, output: number, more: object = {}) =>
  json({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "small",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...more,
  });

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "small", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const counts = (input: number, output: number) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "small", choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } })}\n\n`;
const DONE = "data: [DONE]\n\n";

const chat = (client: OpenAI, more: object = {}) =>
  client.chat.completions.create({
    model: "small",
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 450,
    ...more,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);

const states = (calls: { state: number }[]) => calls.map(({ state }) => CHARGE_STATES[state]);

test("an exhausted budget raises the typed error of both SDKs once, with amounts, and no provider is asked", async () => {
  const { gateway, upstream } = await start(
    () => answer(10, 10),
    [budget("all", 100_000, { name: "eng", window: "month" })],
  );
  const openai = await chat(openaiClient(gateway.url, { maxRetries: 2 })).catch((error: unknown) => error);
  expect(openai).toBeInstanceOf(OpenAI.RateLimitError);
  const sentence =
    /The budget "eng, month" has \$0\.0001 of \$0\.0001 left and this call may cost up to \$0\.\d+; it resets on \d{4}-\d\d-01 00:00 UTC\./;
  expect(openai).toMatchObject({ status: 429, code: "insufficient_quota", type: "insufficient_quota" });
  expect((openai as Error).message).toMatch(sentence);
  const messages = await anthropicClient(gateway.url, { maxRetries: 2 })
    .messages.create({ model: "small", max_tokens: 450, messages: [{ role: "user", content: "hi" }] })
    .catch((error: unknown) => error);
  expect(messages).toBeInstanceOf(Anthropic.RateLimitError);
  const refused = messages as InstanceType<typeof Anthropic.RateLimitError>;
  const { error } = refused.error as { error: Record<string, unknown> };
  expect(error).toMatchObject({
    type: "rate_limit_error",
    details: { code: "budget_exhausted", budget: "eng" },
  });
  expect(refused.headers?.get("x-should-retry")).toBe("false");
  expect(refused.headers?.get("retry-after")).toBeNull();
  expect(upstream.requests.length).toBe(0);
  const { calls } = await gateway.finish();
  expect(calls.map(({ status, cost, tries }) => [status, cost, tries])).toEqual([
    [429, 0, 0],
    [429, 0, 0],
  ]);
});

test("a rate limit raises the typed error that the SDKs repeat after retry-after", async () => {
  const { gateway } = await start(() => answer(1, 1), [], {}, [rate("few", { rpm: 1 })]);
  const client = openaiClient(gateway.url);
  await chat(client);
  const error = (await chat(client).catch((thrown: unknown) => thrown)) as InstanceType<
    typeof OpenAI.RateLimitError
  >;
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(error.message).toMatch(/The limit "few" permits 1 requests a minute; there is room in \d+ s\./);
  const wait = Number(error.headers.get("retry-after"));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(60);
  const waitMs = Number(error.headers.get("retry-after-ms"));
  expect(waitMs).toBeGreaterThan((wait - 1) * 1000);
  expect(waitMs).toBeLessThanOrEqual(wait * 1000);
});

test("an answer that outgrows its budget is stopped with an error in band, and its provider's connection is closed", async () => {
  const budgetOf = 10_000 * 2000 + 1_000_000;
  const text = "abcdefg ".repeat(64);
  function* pieces() {
    for (let at = 0; at < 175; at++) {
      yield chunk({ content: text });
      yield { wait: 1 };
    }
    yield chunk({}, "stop") + counts(20, 20_000) + DONE;
  }
  const { gateway, upstream } = await start(() => sse(pieces()), [budget("all", budgetOf)]);
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "small", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(200);
  let body = "";
  let cutAt = Infinity;
  try {
    for await (const piece of response.body!) {
      body += Buffer.from(piece).toString();
      if (cutAt === Infinity && body.includes('"error":')) cutAt = performance.now();
    }
  } catch {
    // weir closes the connection without the end of the body.
  }
  const events = body.split("\n\n").filter((event) => event.startsWith("data: "));
  const last = JSON.parse(events.at(-1)!.slice("data: ".length)) as { error: Record<string, unknown> };
  expect(last.error).toMatchObject({ type: "insufficient_quota", code: "budget_exhausted" });
  expect(String(last.error["message"])).toContain("weir stopped the answer, because the budget");
  expect(body).not.toContain("[DONE]");
  expect(body).not.toContain('"finish_reason":"stop"');
  await upstream.quiet();
  const { state, settledAt } = upstream.requests[0]!;
  expect(state).toBe("closed");
  // 10 ms is the promise; other processes share the processor.
  expect(settledAt! - cutAt).toBeLessThan(100);
  const { spent, calls } = await gateway.finish();
  expect(states(calls)).toEqual(["estimated"]);
  expect(calls[0]!.cost).toBeGreaterThan(4000 * 2000);
  // On a busy machine weir reads more of the answer at once than it needs to see that the budget is empty.
  expect(calls[0]!.cost).toBeLessThanOrEqual(20_000 * 2000);
  expect(spent.get(ALL)).toBe(calls[0]!.cost);
  expect(spent.get(ALL)!).toBeLessThanOrEqual(budgetOf);
});

test("a messages client sees a stopped answer as an error event, and no end of the message", async () => {
  const text = "abcdefg ".repeat(64);
  function* pieces() {
    for (let at = 0; at < 175; at++) {
      yield chunk({ content: text });
      yield { wait: 1 };
    }
    yield chunk({}, "stop") + DONE;
  }
  const { gateway } = await start(() => sse(pieces()), [budget("all", 10_000_000)]);
  const stream = anthropicClient(gateway.url).messages.stream({
    model: "small",
    max_tokens: 30_000,
    messages: [{ role: "user", content: "hi" }],
  });
  const error = await stream.finalMessage().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Anthropic.APIError);
  expect(String((error as Error).message)).toContain("budget_exhausted");
});

test("a short streamed answer passes where only its beginning can be paid", async () => {
  const { gateway } = await start(
    () => sse([chunk({ content: "Hello." }), chunk({}, "stop") + counts(20, 5) + DONE]),
    [budget("all", 4096 * 2000 + 500_000)],
  );
  const stream = await openaiClient(gateway.url).chat.completions.create({
    model: "small",
    stream: true,
    max_tokens: 128_000,
    messages: [{ role: "user", content: "hi" }],
  });
  let text = "";
  for await (const part of stream) text += part.choices[0]?.delta.content ?? "";
  expect(text).toBe("Hello.");
  const { spent, calls } = await gateway.finish();
  expect([spent.get(ALL), calls[0]!.cost]).toEqual([30_000, 30_000]);
});

test("a stream of a model that hides its reasoning holds its full maximum before anything is sent", async () => {
  const most = 20_000;
  const upstream = startUpstream(() =>
    sse([chunk({ content: "Hello." }), chunk({}, "stop") + counts(20, 5) + DONE]),
  );
  const openai = { baseUrl: `${upstream.url}/v1`, apiKey: "key" };
  const gateway = await startBooked({ providers: { openai }, prices: { "openai/*": PRICES["host/*"] } }, [
    budget("all", most * 2000),
  ]);
  running.push(gateway, upstream);
  const stream = async (model: string, limit: number) => {
    const request = { model, stream: true as const, messages: [{ role: "user" as const, content: "hi" }] };
    const client = openaiClient(gateway.url);
    for await (const _ of await client.chat.completions.create({ ...request, max_completion_tokens: limit }));
  };
  const asked = () => upstream.requests.filter(({ method }) => method === "POST").length;
  // The rest of an answer whose output is visible would be held as it grows.
  const refused = await stream("openai/o3", most).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
  expect(String(refused)).toContain("this call may cost up to $0.040");
  expect(asked()).toBe(0);
  await stream("openai/o3", most - 500);
  await stream("openai/gpt-4o", most * 2);
  expect(asked()).toBe(2);
});

test("a model whose budget is exhausted is passed over for the next one of its route", async () => {
  const { gateway, upstream } = await start(
    () => answer(10, 10),
    [budget("all", 0, { on: { kind: "model", what: "host/large" } })],
    { routes: { smart: ["host/large", { model: "other/spare", priority: 1 }] }, retries: { attempts: 1 } },
  );
  const answered = await chat(openaiClient(gateway.url), { model: "smart" });
  expect(answered.choices[0]!.message.content).toBe("Hello.");
  expect(
    upstream.requests.map(({ body }) => (JSON.parse(body.toString()) as { model: string }).model),
  ).toEqual(["spare"]);
  // It is no failure of the deployment: the other model of the same host answers.
  await chat(openaiClient(gateway.url), { model: "host/small" });
  const { calls } = await gateway.finish();
  expect(calls.map(({ tries, cost }) => [tries, cost])).toEqual([
    [1, 30_000],
    [1, 30_000],
  ]);
});

test("a budget may name a model that answers when it is exhausted, and the answer says so", async () => {
  const { gateway, upstream } = await start(
    () => answer(10, 10),
    [budget("all", 0, { on: { kind: "model", what: "host/large" }, onEmpty: { use: "host/small" } })],
  );
  const { response } = await chat(openaiClient(gateway.url), { model: "large" }).withResponse();
  expect(response.headers.get("x-weir-model")).toBe("small");
  expect(response.headers.get("x-weir-warnings")).toContain("substituted:model");
  expect(upstream.requests.length).toBe(1);
});

test("a key gets the refusal of its budget where it may not use the model that stands in", async () => {
  const [byModel, byProvider] = ["key-of-the-models-000001", "key-of-the-provider-0001"];
  const { gateway, upstream } = await start(
    () => answer(10, 10),
    [budget("all", 0, { on: { kind: "model", what: "host/large" }, onEmpty: { use: "other/spare" } })],
    {
      keys: [
        { name: "models", key: byModel, models: ["large"] },
        { name: "provider", key: byProvider, providers: ["host"] },
      ],
    },
  );
  for (const apiKey of [byModel, byProvider]) {
    const client = openaiClient(gateway.url, { apiKey, maxRetries: 0 });
    const error = await chat(client, { model: "large" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ code: "insufficient_quota" });
  }
  expect(upstream.requests.length).toBe(0);
  const { calls } = await gateway.finish();
  expect(calls.map(({ status, refused }) => [status, refused > 0])).toEqual([
    [429, true],
    [429, true],
  ]);
});

test("the failure of a provider is the answer, also when a budget refuses its fallback", async () => {
  const { gateway } = await start(
    () => json({ error: { message: "broken" } }, 500),
    [budget("all", 0, { on: { kind: "provider", what: "other" } })],
    { routes: { smart: ["host/small", { model: "other/spare", priority: 1 }] } },
  );
  const error = await chat(openaiClient(gateway.url), { model: "smart" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.InternalServerError);
  const db = await gateway.finish();
  expect(db.calls.map(({ status, refused }) => [status, refused])).toEqual([[500, 0]]);
});

test("what failed costs what the provider may charge: nothing unsent, nothing for errors, assumed for silence", async () => {
  let asked = 0;
  const { gateway } = await start(
    (request) => {
      asked++;
      const text = request.body.toString();
      if (text.includes("broken")) return json({ error: { message: "no" } }, 500);
      if (text.includes("wrong")) return json({ error: { message: "no" } }, 400);
      return new Promise(() => {});
    },
    [budget("all", DOLLAR)],
    { retries: { attempts: 1 }, timeouts: { firstByteMs: 1_500 } },
  );
  const client = openaiClient(gateway.url);
  const fail = (content: string, more: object = {}) =>
    chat(client, { messages: [{ role: "user", content }], ...more }).catch(
      (error: { status: number }) => error.status,
    );
  expect(await fail("broken")).toBe(500);
  expect(await fail("wrong")).toBe(400);
  expect(await fail("silent")).toBe(504);
  expect(asked).toBe(3);
  const { calls, spent } = await gateway.finish();
  expect(states(calls)).toEqual(["free", "free", "assumed"]);
  expect(calls.map(({ cost }) => cost > 0)).toEqual([false, false, true]);
  expect(spent.get(ALL)).toBe(calls[2]!.cost);
});

test("a request that reached no host is free", async () => {
  const gateway = await startBooked(
    {
      providers: {
        host: { baseUrl: "http://127.0.0.1:1/v1", speaks: "chat-completions", models: ["small"] },
      },
      prices: { "host/*": { input: 1, output: 2 } },
      retries: { attempts: 1 },
    },
    [budget("all", DOLLAR)],
  );
  running.push(gateway);
  await chat(openaiClient(gateway.url)).catch(() => {});
  const { calls, spent } = await gateway.finish();
  expect(states(calls)).toEqual(["free"]);
  expect(spent.get(ALL) ?? 0).toBe(0);
});

test("each attempt of a call is charged: a silent one and the one that answered", async () => {
  let asked = 0;
  const { gateway } = await start(
    () => (asked++ === 0 ? new Promise(() => {}) : answer(10, 10)),
    [budget("all", DOLLAR)],
    {
      routes: { smart: ["host/small", { model: "other/spare", priority: 1 }] },
      timeouts: { firstByteMs: 200 },
    },
  );
  await chat(openaiClient(gateway.url), { model: "smart" });
  const { calls, spent } = await gateway.finish();
  expect(calls.map(({ tries }) => tries)).toEqual([2]);
  expect(calls[0]!.cost).toBeGreaterThan(30_000);
  expect(spent.get(ALL)).toBe(calls[0]!.cost);
});

test("a stream whose client leaves is charged for its input and for what had come", async () => {
  const text = "abcdefg ".repeat(70);
  function* pieces() {
    for (;;) {
      yield chunk({ content: text });
      yield { wait: 5 };
    }
  }
  const { gateway, upstream } = await start(() => sse(pieces()), [budget("all", DOLLAR)]);
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    signal: controller.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "small", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  const reader = response.body!.getReader();
  let bytes = 0;
  while (bytes < 20_000) {
    const { value = new Uint8Array(0), done } = await reader.read();
    expect(done, gateway.log.join("\n")).toBe(false);
    bytes += value.length;
  }
  controller.abort();
  await upstream.quiet();
  await until(
    () => gateway.log.some((line) => line.includes("cancelled")),
    5000,
    () => "no line",
  );
  const { calls, spent } = await gateway.finish();
  expect(states(calls)).toEqual(["estimated"]);
  // The chunks are longer than their text.
  expect(calls[0]!.cost).toBeGreaterThan(3000 * 2000);
  expect(calls[0]!.cost).toBeLessThan(8500 * 2000);
  expect(spent.get(ALL)).toBe(calls[0]!.cost);
});

test("a stream of a host that is asked for no counts is charged by an estimate", async () => {
  const upstream = startUpstream(() =>
    sse([chunk({ content: "abcdefg".repeat(10) }), chunk({}, "stop") + DONE]),
  );
  const gateway = await startBooked(
    {
      providers: { mistral: { baseUrl: `${upstream.url}/v1`, apiKey: "key" } },
      prices: { "mistral/*": { input: 1, output: 2 } },
    },
    [budget("all", DOLLAR)],
  );
  running.push(gateway, upstream);
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "mistral/small",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    }),
  });
  await response.text();
  expect(upstream.requests[0]!.body.toString()).not.toContain("stream_options");
  const { calls } = await gateway.finish();
  expect(states(calls)).toEqual(["estimated"]);
  // 70 bytes of text, and input that nothing counted.
  expect(calls[0]!.cost).toBeGreaterThan(20 * 2000);
  expect(calls[0]!.cost).toBeLessThan(32 * 2000 + 40 * 1000);
});

test("a provider that counts zero is charged zero", async () => {
  const { gateway } = await start(() => answer(0, 0), [budget("all", DOLLAR)]);
  await chat(openaiClient(gateway.url));
  const { calls } = await gateway.finish();
  expect(calls.map(({ cost }) => cost)).toEqual([0]);
});

test("counting tokens holds nothing, and embeddings are refused like answers", async () => {
  const gateway = await startBooked({ prices: { "mock/*": { input: 1, output: 2 } } }, [budget("all", 1)]);
  running.push(gateway);
  const counted = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(counted.status).toBe(200);
  const embedded = await fetch(`${gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/embed", input: "hi" }),
  });
  expect(embedded.status).toBe(429);
});
