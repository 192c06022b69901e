/** A hard budget cannot bound the cost of a call without a price. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;

const configOf = (more: object) => ({
  state: "none",
  admin: "off",
  providers: { acme: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["new-model"] } },
  ...more,
});

const HARD = { budgets: { everything: { on: "all", every: "month", limit: 1, mode: "hard" } } };
const SENTENCE =
  'The price of acme/new-model is unknown, and the hard budget "everything" needs it. Add it to weir.yaml, in dollars a million tokens:\nprices:\n  "acme/new-model":\n    {input: 1.00, output: 2.00}';

beforeAll(() => {
  upstream = startUpstream(() =>
    json({
      id: "c1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 2 },
    }),
  );
});
afterAll(() => upstream.stop());

async function within(config: object, use: (gateway: RunningGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway({ config: configOf(config) });
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

const chat = ({ url }: RunningGateway) =>
  new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 2 }).chat.completions.create({
    model: "acme/new-model",
    max_completion_tokens: 10,
    messages: [{ role: "user", content: "Hello" }],
  });
const messages = ({ url }: RunningGateway) =>
  new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 2 }).messages.create({
    model: "acme/new-model",
    max_tokens: 10,
    messages: [{ role: "user", content: "Hello" }],
  });

test("is refused with 403 and the lines of the config that help, in both dialects, and never sent", async () => {
  const before = upstream.requests.length;
  await within(HARD, async (gateway) => {
    const ofChat = await chat(gateway).catch((thrown: unknown) => thrown);
    expect(ofChat).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect((ofChat as InstanceType<typeof OpenAI.APIError>).code).toBe("price_unknown");
    expect((ofChat as Error).message).toContain(SENTENCE);
    const ofMessages = await messages(gateway).catch((thrown: unknown) => thrown);
    expect(ofMessages).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect((ofMessages as InstanceType<typeof Anthropic.APIError>).error).toMatchObject({
      error: { message: SENTENCE },
    });
  });
  expect(upstream.requests.length).toBe(before);
}, 60_000);

test("is answered when the config has the lines that the sentence names", async () => {
  await within({ ...HARD, prices: { "acme/new-model": { input: 1, output: 2 } } }, async (gateway) => {
    expect((await chat(gateway)).choices[0]!.message.content).toBe("Hi");
    const response = await fetch(`${gateway.url}/v1/explain?format=chat-completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/new-model", messages: [{ role: "user", content: "Hello" }] }),
    });
    const { cost } = (await response.json()) as { cost: { budgets: unknown[] } };
    expect(cost.budgets).toEqual([
      { name: "everything", mode: "hard", on: "all", window: "month", limit: 1 },
    ]);
  });
}, 60_000);

test("is answered under a budget that is not hard", async () => {
  const soft = { budgets: { everything: { on: "all", every: "month", limit: 1 } } };
  await within(soft, async (gateway) => {
    expect((await chat(gateway)).choices[0]!.message.content).toBe("Hi");
  });
}, 60_000);
