/** Gemini at the paths of OpenAI: signatures of tool calls go back, and errors come as a list. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let host: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  host = startUpstream(() => json(CALLING));
  gateway = await startGateway({
    env: { GEMINI_API_KEY: "gemini-canary-0123456789" },
    config: { providers: { "gemini-openai": { baseUrl: `${host.url}/v1beta/openai` } } },
  });
});

beforeEach(() => host.answer(() => json(CALLING)));

afterAll(async () => {
  await gateway.stop();
  host.stop();
});

const SIGNATURE = "c2lnbmF0dXJlLW9mLWdvb2dsZQ==";
/** Google sends no `index` with its calls. */
const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "weather", arguments: '{"city":"Oslo"}' },
  extra_content: { google: { thought_signature: SIGNATURE } },
};
const CALLING = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "gemini-3-pro" },
  choices: [{ index: 0, message: { role: "assistant", tool_calls: [CALL] }, finish_reason: "tool_calls" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const model = "gemini-openai/gemini-3-pro";

/** The tool calls in the last request. */
function sentCalls() {
  const { messages } = JSON.parse(host.requests.at(-1)!.body.toString()) as {
    messages: { tool_calls?: unknown[] }[];
  };
  return messages.flatMap(({ tool_calls = [] }) => tool_calls);
}

test("the key is a bearer token, and the path is Google's", async () => {
  await openaiClient(gateway.url).chat.completions.create({
    model,
    messages: [{ role: "user", content: "hi" }],
  });
  const { path, headers } = host.requests.at(-1)!;
  expect([path, headers.get("authorization")]).toEqual([
    "/v1beta/openai/chat/completions",
    "Bearer gemini-canary-0123456789",
  ]);
});

describe("the signature of a call goes back with it", () => {
  test("for a client of the same format", async () => {
    const { completions } = openaiClient(gateway.url).chat;
    const question = { role: "user" as const, content: "hi" };
    const { choices } = await completions.create({ model, messages: [question] });
    const result = { role: "tool" as const, tool_call_id: "call_1", content: "rain" };
    await completions.create({ model, messages: [question, choices[0]!.message, result] });
    expect(sentCalls()).toEqual([CALL]);
  });

  test("for a messages client", async () => {
    const { messages } = anthropicClient(gateway.url);
    const question = { role: "user" as const, content: "hi" };
    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const answer = await messages.create({ model, max_tokens: 99, messages: [question], tools });
    const call = answer.content.find((block) => block.type === "tool_use")!;
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: "rain" };
    await messages.create({
      ...{ model, max_tokens: 99, tools },
      messages: [
        question,
        { role: "assistant", content: answer.content },
        { role: "user", content: [result] },
      ],
    });
    expect(sentCalls()).toMatchObject([{ function: CALL.function, extra_content: CALL.extra_content }]);
  });
});

test("an error in a list has its message and its status in every format", async () => {
  const message = "Invalid value at 'temperature'.";
  host.answer(() => json([{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }], 400));
  const question = { role: "user" as const, content: "hi" };
  const native = await openaiClient(gateway.url)
    .chat.completions.create({ model, messages: [question] })
    .catch((thrown: unknown) => thrown);
  expect(native).toMatchObject({ status: 400, error: { message } });
  const translated = await anthropicClient(gateway.url)
    .messages.create({ model, max_tokens: 5, messages: [question] })
    .catch((thrown: unknown) => thrown);
  expect(translated).toMatchObject({ status: 400, error: { error: { message } } });
});

test("a key that Google refuses with 400 is the operator's to correct", async () => {
  const message = "API key not valid. Please pass a valid API key.";
  host.answer(() => json([{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }], 400));
  const refused = await openaiClient(gateway.url)
    .chat.completions.create({ model, messages: [{ role: "user", content: "hi" }] })
    .catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 502, code: "upstream_auth" });
});
