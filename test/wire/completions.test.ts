/** Completions by OpenAI's SDK, and of the middle as Mistral's clients ask for them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { collect, openaiClient, seeError } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const bodyOf = (request: { body: Uint8Array }) =>
  JSON.parse(Buffer.from(request.body).toString()) as JsonObject;

const COUNTS = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

/** OpenAI's answer: a choice for each prompt and each of `n`. */
function completed(body: JsonObject) {
  const prompts = Array.isArray(body["prompt"]) ? body["prompt"] : [body["prompt"]];
  const choices = prompts.flatMap((_prompt, at) =>
    Array.from({ length: (body["n"] ?? 1) as number }, (_, nth) => ({
      ...{ text: `text ${at}.${nth}`, index: at * ((body["n"] ?? 1) as number) + nth },
      ...{ logprobs: body["logprobs"] == null ? null : { tokens: ["a"] }, finish_reason: "stop" },
    })),
  );
  return { id: "cmpl-1", object: "text_completion", created: 1, model: "m", choices, usage: COUNTS };
}

const chunk = (choices: object[], usage?: object) =>
  `data: ${JSON.stringify({ id: "cmpl-1", object: "text_completion", created: 1, model: "m", choices, ...(usage && { usage }) })}\n\n`;

const STREAM = [
  chunk([{ text: "Hel", index: 0, logprobs: null, finish_reason: null }]),
  chunk([{ text: "lo", index: 0, logprobs: null, finish_reason: null }]),
  chunk([{ text: "", index: 0, logprobs: null, finish_reason: "stop" }]),
];

const fimAnswer = {
  ...{ id: "f1", object: "chat.completion", created: 1, model: "codestral-latest", usage: COUNTS },
  choices: [
    { index: 0, message: { role: "assistant", content: "middle", tool_calls: null }, finish_reason: "stop" },
  ],
};

let openai: Upstream;
let mistral: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  openai = startUpstream((request) => {
    const body = bodyOf(request);
    if (!body["stream"]) return json(completed(body));
    const asks = (body["stream_options"] as JsonObject | undefined)?.["include_usage"] === true;
    return sse([...STREAM, ...(asks ? [chunk([], COUNTS)] : []), "data: [DONE]\n\n"]);
  });
  mistral = startUpstream((request) => {
    if (!bodyOf(request)["stream"]) return json(fimAnswer);
    const piece = (delta: object, finish: string | null, usage?: object) =>
      `data: ${JSON.stringify({ ...fimAnswer, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }], usage })}\n\n`;
    return sse([
      piece({ content: "mid" }, null),
      piece({ content: "dle" }, "stop", COUNTS),
      "data: [DONE]\n\n",
    ]);
  });
  gateway = await startGateway({
    config: {
      ...{ admin: "off", state: "none", log: { format: "json" } },
      providers: {
        host: { baseUrl: openai.url, models: ["m"], does: { completion: { completions: "/completions" } } },
        mistral: { apiKey: "k", baseUrl: `${mistral.url}/v1` },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
  mistral.stop();
});

async function post(path: string, body: JsonObject, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("a host of completions gets the client's bytes, and four prompts of two answers keep their indices", async () => {
  const asked = {
    model: "host/m",
    prompt: ["a", "b", "c", "d"],
    n: 2,
    logprobs: 5,
    echo: true,
    max_tokens: 0,
  };
  const { choices } = await openaiClient(gateway.url).completions.create(asked);
  expect(choices.map(({ index, text }) => [index, text])).toEqual(
    [0, 1, 2, 3].flatMap((at) => [0, 1].map((nth) => [at * 2 + nth, `text ${at}.${nth}`])),
  );
  expect(bodyOf(openai.requests.at(-1)!)).toEqual({ ...asked, model: "m" });
  expect(openai.requests.at(-1)!.path).toBe("/completions");
});

test("a streamed completion ends with its counts if the client asks for them, and without them if not", async () => {
  const client = openaiClient(gateway.url);
  const asked = { model: "host/m", prompt: "say", stream: true as const };
  const plain = await collect(await client.completions.create(asked));
  expect(plain.map(({ choices }) => choices[0]?.text).join("")).toBe("Hello");
  expect(plain.every(({ usage }) => usage == null)).toBe(true);
  const counted = await collect(
    await client.completions.create({ ...asked, stream_options: { include_usage: true } }),
  );
  expect(counted.at(-1)!.usage).toEqual(COUNTS);
});

test("token ids and an empty prompt reach a host of completions as they are", async () => {
  for (const prompt of [[1, 2, 3], [[1], [2]], null]) {
    await post("/v1/completions", { model: "host/m", prompt });
    expect(bodyOf(openai.requests.at(-1)!)["prompt"]).toEqual(prompt);
  }
});

test("prompt and suffix reach Mistral byte for byte, and its answer is a completion", async () => {
  const prompt = "def f(a):\n\t\u2028 \ud83d\ude00";
  const suffix = "\n    return x";
  const asked = { model: "codestral-latest", prompt, suffix, max_tokens: 9, seed: 3, stop: "\n\n" };
  const { choices, usage, object } = await openaiClient(gateway.url).completions.create(asked);
  expect([choices[0]!.text, choices[0]!.finish_reason, object]).toEqual([
    "middle",
    "stop",
    "text_completion",
  ]);
  expect(usage).toEqual(COUNTS);
  expect(mistral.requests.at(-1)!.path).toBe("/v1/fim/completions");
  expect(bodyOf(mistral.requests.at(-1)!)).toEqual({
    ...{ model: "codestral-latest", prompt, suffix, max_tokens: 9, stop: ["\n\n"], random_seed: 3 },
  });
  const stream = await openaiClient(gateway.url).completions.create({ ...asked, stream: true });
  expect((await collect(stream)).map((event) => event.choices[0]?.text ?? "").join("")).toBe("middle");
});

test("a client of Ollama that sends a suffix reaches models for completions, in its own shape", async () => {
  const asked = {
    model: "codestral-latest",
    prompt: "def f(",
    suffix: "return x",
    options: { num_predict: 7 },
  };
  const { text } = await post("/api/generate", { ...asked, stream: false });
  expect(JSON.parse(text)).toMatchObject({ response: "middle", done: true, done_reason: "stop" });
  expect(mistral.requests.at(-1)!.path).toBe("/v1/fim/completions");
  expect(bodyOf(mistral.requests.at(-1)!)).toEqual({
    ...{ model: "codestral-latest", prompt: "def f(", suffix: "return x", max_tokens: 7 },
  });
  const streamed = await post("/api/generate", asked);
  const records = streamed.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  expect(records.map(({ response }) => response ?? "").join("")).toBe("middle");
  // Without a suffix it is a conversation, which the model for completions has too.
  const refused = await post("/api/generate", {
    model: "mistral-large-latest",
    prompt: "a",
    suffix: "b",
    stream: false,
  });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("suffix")]);
});

test("clients of DeepSeek complete at the path of its host", async () => {
  const { status, text } = await post("/beta/completions", { model: "host/m", prompt: "a", suffix: "b" });
  expect([status, JSON.parse(text)]).toMatchObject([200, { choices: [{ text: "text 0.0" }] }]);
});

test("a client of Mistral gets the shape of a chat from a host of completions", async () => {
  const asked = { model: "host/m", prompt: "a", suffix: "b", random_seed: 4 };
  const { text } = await post("/v1/fim/completions", asked);
  expect(JSON.parse(text)).toMatchObject({
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "text 0.0" }, finish_reason: "stop" }],
    usage: COUNTS,
  });
  expect(bodyOf(openai.requests.at(-1)!)).toEqual({ model: "m", prompt: "a", suffix: "b", seed: 4 });
  const streamed = await post("/v1/fim/completions", { ...asked, stream: true });
  expect(streamed.text).toContain('"delta":{"content":"Hel"}');
  expect(streamed.text).toEndWith("data: [DONE]\n\n");
});

test.each([
  [{ prompt: ["a", "b"] }, "prompt"],
  [{ prompt: [1, 2] }, "prompt"],
  [{ prompt: "a", n: 2 }, "n"],
  [{ prompt: "a", echo: true }, "echo"],
  [{ prompt: "a", logprobs: 0 }, "logprobs"],
])("%j is refused where the host cannot do it, with its place", async (body, param) => {
  const { status, text } = await post("/v1/completions", { model: "codestral-latest", ...body });
  expect([status, (JSON.parse(text) as { error: JsonObject }).error["param"]]).toEqual([400, param]);
});

test("no model for conversations is asked, and a model for completions gets none", async () => {
  const error = await seeError(() =>
    openaiClient(gateway.url).completions.create({ model: "mistral-large-latest", prompt: "a" }),
  );
  expect([error.status, error.message]).toEqual([404, expect.stringContaining("completes no prompts")]);
  const chat = await post("/v1/chat/completions", {
    model: "host/m",
    messages: [{ role: "user", content: "a" }],
  });
  expect(chat.status).toBe(404);
});

test("a cut stream is an error and no completion", async () => {
  openai.answer(() => sse(STREAM.slice(0, 2)));
  try {
    const { text } = await post("/v1/completions", { model: "host/m", prompt: "a", stream: true }).catch(
      (thrown: unknown) => ({ text: String(thrown) }),
    );
    expect(text).not.toContain("[DONE]");
    expect(text).not.toContain('"finish_reason":"stop"');
  } finally {
    openai.answer((request) => json(completed(bodyOf(request))));
  }
});

test("a model for conversations continues a text only where the config says how, and each loss is told", async () => {
  const chat = startUpstream(() =>
    json({
      ...{ id: "c", object: "chat.completion", created: 1, model: "m", usage: COUNTS },
      choices: [{ index: 0, message: { role: "assistant", content: "goes on" }, finish_reason: "length" }],
    }),
  );
  const host = { baseUrl: chat.url, models: ["m"], speaks: "chat-completions" };
  const other = await startGateway({
    config: {
      ...{ admin: "off", state: "none" },
      providers: { chat: { ...host, traits: { completionPrompt: "Continue." } }, plain: host },
    },
  });
  try {
    const asked = { prompt: "Once", suffix: "end", max_tokens: 5 };
    const client = openaiClient(other.url);
    const { data, response } = await client.completions.create({ model: "chat/m", ...asked }).withResponse();
    expect([data.choices[0]!.text, data.choices[0]!.finish_reason]).toEqual(["goes on", "length"]);
    const warnings = response.headers.get("x-weir-warnings")!;
    expect(warnings.split(", ").toSorted()).toEqual(["converted:prompt", "dropped:suffix"]);
    expect(bodyOf(chat.requests.at(-1)!)["messages"]).toEqual([
      { role: "system", content: "Continue." },
      { role: "user", content: "Once" },
    ]);
    const error = await seeError(() => client.completions.create({ model: "plain/m", ...asked }));
    expect(error.status).toBe(404);
    const logprobs = await seeError(() =>
      client.completions.create({ model: "chat/m", prompt: "a", logprobs: 1 }),
    );
    expect([logprobs.status, logprobs.param]).toEqual([400, "logprobs"]);
  } finally {
    await other.stop();
    chat.stop();
  }
});

test("the mock answers completions, streamed and not", async () => {
  const client = openaiClient(gateway.url);
  const { choices, usage } = await client.completions.create({ model: "mock/echo", prompt: "hello you" });
  expect([choices[0]!.text, choices[0]!.finish_reason]).toEqual(["hello you", "stop"]);
  expect(usage!.total_tokens).toBeGreaterThan(0);
  const stream = await client.completions.create({ model: "mock/chat", prompt: "hi", stream: true });
  expect((await collect(stream)).length).toBeGreaterThan(2);
});
