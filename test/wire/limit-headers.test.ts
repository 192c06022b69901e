/** The response headers that tell a client what its rate limits and budgets have left. */
import { afterEach, expect, test } from "bun:test";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

async function start(config: Record<string, unknown>): Promise<RunningGateway> {
  const gateway = await startGateway({
    config: { prices: { "mock/*": { input: 0.5, output: 1 } }, ...config },
  });
  running.push(gateway);
  return gateway;
}

function ask(gateway: RunningGateway, path: string, model = "mock/chat"): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 20, messages: [{ role: "user", content: "hello" }] }),
  });
}

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";

test("chat clients read limit, remaining and reset of requests and tokens, and they count down", async () => {
  const gateway = await start({ rates: { all: { on: "all", rpm: 5, tpm: 100_000 } } });
  const first = await ask(gateway, CHAT);
  expect(first.status).toBe(200);
  expect(first.headers.get("x-ratelimit-limit-requests")).toBe("5");
  expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("4");
  expect(first.headers.get("x-ratelimit-reset-requests")).toMatch(/^1[012](\.\d)?s$/);
  expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("100000");
  const tokens = Number(first.headers.get("x-ratelimit-remaining-tokens"));
  expect(tokens).toBeGreaterThan(99_000);
  expect(tokens).toBeLessThanOrEqual(100_000);
  const second = await ask(gateway, CHAT);
  expect(second.headers.get("x-ratelimit-remaining-requests")).toBe("3");
  expect(second.headers.get("x-ratelimit-reset-requests")).toMatch(/^2[0-4](\.\d)?s$/);
});

test("messages clients read them in their own names, with the time of the reset", async () => {
  const gateway = await start({ rates: { all: { on: "all", rpm: 5, itpm: 50_000 } } });
  const { status, headers } = await ask(gateway, MESSAGES);
  expect(status).toBe(200);
  expect(headers.get("anthropic-ratelimit-requests-limit")).toBe("5");
  expect(headers.get("anthropic-ratelimit-requests-remaining")).toBe("4");
  const reset = headers.get("anthropic-ratelimit-requests-reset")!;
  expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(Date.parse(reset) - Date.now()).toBeGreaterThan(5_000);
  expect(Date.parse(reset) - Date.now()).toBeLessThan(20_000);
  expect(headers.get("anthropic-ratelimit-input-tokens-limit")).toBe("50000");
  expect(headers.get("x-ratelimit-limit-requests")).toBeNull();
});

test("a refusal has them too, with the seconds to wait", async () => {
  const gateway = await start({ rates: { all: { on: "all", rpm: 1 } } });
  expect((await ask(gateway, CHAT)).status).toBe(200);
  const { status, headers } = await ask(gateway, CHAT);
  expect(status).toBe(429);
  expect(headers.get("x-ratelimit-remaining-requests")).toBe("0");
  const wait = Number(headers.get("retry-after"));
  expect(wait).toBeGreaterThan(30);
  expect(wait).toBeLessThanOrEqual(60);
  expect(headers.get("x-should-retry")).not.toBe("false");
});

test("both SDKs wait as told, repeat the call and succeed", async () => {
  const gateway = await start({ rates: { all: { on: "all", rpm: 60, burst: { rpm: 1 } } } });
  const messages = [{ role: "user" as const, content: "hello" }];
  const openai = openaiClient(gateway.url, { maxRetries: 4 });
  const anthropic = anthropicClient(gateway.url, { maxRetries: 4 });
  const began = performance.now();
  for (let n = 0; n < 2; n++) {
    const chat = await openai.chat.completions.create({ model: "mock/chat", messages });
    expect(chat.choices[0]!.finish_reason).toBe("stop");
    const message = await anthropic.messages.create({ model: "mock/chat", max_tokens: 50, messages });
    expect(message.stop_reason).toBe("end_turn");
  }
  // Three of the four calls had to wait for a second.
  expect(performance.now() - began).toBeGreaterThan(2_000);
}, 60_000);

test("the limits of a provider move aside where weir has limits of its own", async () => {
  const upstream: Upstream = startUpstream(() =>
    json(
      {
        ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
        choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
      200,
      { "x-ratelimit-remaining-requests": "777" },
    ),
  );
  running.push(upstream);
  const providers = {
    host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
    free: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["n"] },
  };
  const gateway = await start({ providers, rates: { own: { on: { provider: "host" }, rpm: 9 } } });
  const limited = await ask(gateway, CHAT, "host/m");
  expect(limited.headers.get("x-ratelimit-remaining-requests")).toBe("8");
  expect(limited.headers.get("x-weir-upstream-ratelimit-remaining-requests")).toBe("777");
  const free = await ask(gateway, CHAT, "free/n");
  expect(free.headers.get("x-ratelimit-remaining-requests")).toBe("777");
});

test("a budget is named with what is left of it, and a call without limits has no such header", async () => {
  const gateway = await start({
    budgets: { team: { on: { model: "mock/chat" }, every: "month", limit: 0.001, mode: "hard" } },
  });
  const { headers } = await ask(gateway, CHAT);
  expect(headers.get("x-weir-budget")).toBe("team");
  expect(headers.get("x-weir-budget-left")).toMatch(/^\$0\.0009\d+$/);
  expect(headers.get("x-weir-budget-resets")).toMatch(/^\d{4}-\d\d-01T00:00:00.000Z$/);
  const other = await ask(gateway, CHAT, "mock/long-10");
  expect([...other.headers.keys()].filter((name) => /budget|ratelimit/.test(name))).toEqual([]);
});

test("limits with room for thousands of calls are read again after 20 ms, and each call has its own ids", async () => {
  const gateway = await start({
    rates: { all: { on: "all", rpd: 1_000_000, tpm: 1e12 } },
    budgets: { all: { on: "all", every: "month", limit: 1_000_000 } },
  });
  const answers = [await ask(gateway, CHAT)];
  for (let call = 0; call < 20; call++)
    answers.push(...(await Promise.all([ask(gateway, CHAT), ask(gateway, CHAT)])));
  const left = answers.map(({ headers }) => Number(headers.get("x-ratelimit-remaining-requests")));
  expect(left[0]).toBe(999_999);
  for (const [at, one] of left.entries())
    expect(one).toBeWithin(1_000_000 - answers.length, 1_000_001 - Math.min(at, 1));
  await Bun.sleep(30);
  const last = await ask(gateway, CHAT);
  expect(Number(last.headers.get("x-ratelimit-remaining-requests"))).toBeLessThan(left[0]!);
  const messages = await ask(gateway, MESSAGES);
  expect(messages.headers.get("anthropic-ratelimit-requests-limit")).toBe("1000000");
  expect(messages.headers.get("x-ratelimit-limit-requests")).toBeNull();
  expect(last.headers.get("x-weir-budget")).toBe("all");
  expect(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size).toBe(answers.length);
});
