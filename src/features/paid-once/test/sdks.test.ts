/** The vendors' SDKs behind a network that breaks: where they repeat a request by themselves, the provider is asked once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type BreakingProxy, startBreakingProxy } from "../../../../test/helpers/breaking-proxy.ts";
import { EVENTS } from "../../../../test/helpers/cut-streams.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import {
  type Answer,
  json,
  sse,
  startUpstream,
  until,
  type Upstream,
} from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
let upstream: Upstream;
let proxy: BreakingProxy;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: {
      providers: {
        chatty: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
        messy: { baseUrl: upstream.url, speaks: "messages", models: ["m"] },
      },
      paidOnce: { enabled: true },
      log: { format: "json" },
    },
  });
  proxy = await startBreakingProxy(gateway.port);
  openai = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: "none", maxRetries: 2 });
  anthropic = new Anthropic({ baseURL: proxy.url, apiKey: "none", maxRetries: 2 });
});

afterAll(async () => {
  proxy.stop();
  await gateway.stop();
  upstream.stop();
});

const COMPLETION = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MESSAGE = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "m" },
  content: [{ type: "text", text: "Hello" }],
  ...{ stop_reason: "end_turn", stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** Breaks the connection before the response headers. @returns what the SDK gets, and how often the provider was asked */
async function broken<Value>(answer: Answer, ask: () => Promise<Value>): Promise<[Value, number]> {
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    return answer;
  });
  const before = upstream.requests.length;
  const asked = ask();
  await upstream.arrived(before + 1);
  proxy.break();
  await Bun.sleep(100);
  gate.resolve();
  const value = await asked;
  return [value, upstream.requests.length - before];
}

const chat = { model: "chatty/m", messages: [{ role: "user" as const, content: "Hello" }] };
const message = { model: "messy/m", max_tokens: 9, messages: [{ role: "user" as const, content: "Hello" }] };

test("openai repeats a JSON call that broke before the headers, and gets the first answer", async () => {
  const [completion, asked] = await broken(json(COMPLETION), () => openai.chat.completions.create(chat));
  expect(completion.choices[0]?.message.content).toBe("Hello");
  expect(asked).toBe(1);
});

test("openai repeats a stream that broke before the headers, and gets the first answer", async () => {
  const [stream, asked] = await broken(sse(EVENTS), () =>
    openai.chat.completions.create({ ...chat, stream: true }),
  );
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe("one two three");
  expect(asked).toBe(1);
});

test("anthropic repeats a JSON call that broke before the headers, and gets the first answer", async () => {
  const [answer, asked] = await broken(json(MESSAGE), () => anthropic.messages.create(message));
  expect(answer.content).toMatchObject([{ type: "text", text: "Hello" }]);
  expect(asked).toBe(1);
});

test("an SDK whose second try broke too gets the first answer by its third", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    return json(COMPLETION);
  });
  const before = upstream.requests.length;
  const other = { ...chat, messages: [{ role: "user" as const, content: "Twice" }] };
  const asked = openai.chat.completions.create(other);
  await upstream.arrived(before + 1);
  proxy.break();
  await Bun.sleep(1_000);
  proxy.break();
  await Bun.sleep(100);
  gate.resolve();
  expect((await asked).choices[0]?.message.content).toBe("Hello");
  expect(upstream.requests.length - before).toBe(1);
});

test("an SDK does not repeat a JSON answer that was cut; with an idempotency key its caller gets the first answer", async () => {
  upstream.answer(() => json({ ...COMPLETION, filler: "x".repeat(20_000) }));
  const before = upstream.requests.length;
  const options = { headers: { "idempotency-key": "cut body" } };
  proxy.breakAfter = 5_000;
  const failed = await openai.chat.completions.create(chat, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  proxy.breakAfter = undefined;
  expect(failed).toBeInstanceOf(Error);
  await until(
    () => upstream.open === 0,
    5000,
    () => "the provider is still asked",
  );
  expect(upstream.requests.length - before).toBe(1);
  const completion = await openai.chat.completions.create(chat, options);
  expect(completion.choices[0]?.message.content).toBe("Hello");
  expect(upstream.requests.length - before).toBe(1);
});
