/** A provider that speaks gemini, for clients of other formats, over real sockets with the SDKs of OpenAI and Anthropic. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { type Answer, cut, sse, stalled, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEY = "AIza-canary-4471gemini";
const MODEL = "gemini/gemini-2.5-flash";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => ({}));
  gateway = await startGateway({
    config: { providers: { gemini: { baseUrl: upstream.url } }, retries: { attempts: 2 } },
    env: { GOOGLE_API_KEY: KEY },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const USAGE = {
  promptTokenCount: 9,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 3,
  totalTokenCount: 16,
};

/** A record of an answer. */
const record = (parts: JsonObject[], more: JsonObject = {}, members: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  modelVersion: "gemini-2.5-flash",
  responseId: "r-1",
  ...members,
});

const STOP = { finishReason: "STOP" };
const WHOLE = record([{ text: "Hello there." }], STOP, { usageMetadata: USAGE });
const STREAM = [
  record([{ text: "Hello" }], {}, { usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }),
  record([{ text: " there." }], STOP, { usageMetadata: USAGE }),
];

const json = (body: JsonObject, status = 200): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const pieces = (records: readonly JsonObject[]) =>
  records.map((body) => `data: ${JSON.stringify(body)}\r\n\r\n`);
const stream = (records: readonly JsonObject[]): Answer => sse(pieces(records));

const lastRequest = () => {
  const request = upstream.requests.at(-1)!;
  return { ...request, json: JSON.parse(Buffer.from(request.body).toString()) as JsonObject };
};

const chat = { model: MODEL, messages: [{ role: "user" as const, content: "Hi" }] };
const message = { ...chat, max_tokens: 100 };

test("an OpenAI SDK gets a JSON answer; the key is in x-goog-api-key, and the model only in the URL", async () => {
  upstream.answer(() => json(WHOLE));
  const answer = await openaiClient(gateway.url).chat.completions.create(chat);
  expect(answer.choices[0]).toMatchObject({ message: { content: "Hello there." }, finish_reason: "stop" });
  expect(answer.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 });
  const { path, headers, json: body } = lastRequest();
  expect(path).toBe("/v1beta/models/gemini-2.5-flash:generateContent");
  expect(headers.get("x-goog-api-key")).toBe(KEY);
  expect(headers.get("authorization")).toBeNull();
  expect(body).toEqual({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] });
});

test("an answer that a filter of Vertex AI stopped is told with its sentence, and asked for once", async () => {
  const finishMessage = "The response violated the safety settings.";
  const blocked = { candidates: [{ finishReason: "MODEL_ARMOR", finishMessage }] } as unknown as JsonObject;
  for (const answer of [json(blocked), stream([blocked])]) {
    const before = upstream.requests.length;
    upstream.answer(() => answer);
    const isStream = Symbol.iterator in Object(answer.body) && typeof answer.body !== "string";
    const [choice] = isStream
      ? (
          await Array.fromAsync(
            await openaiClient(gateway.url).chat.completions.create({ ...chat, stream: true }),
          )
        )
          .flatMap(({ choices }) => choices)
          .filter(({ finish_reason: reason }) => reason !== null)
      : (await openaiClient(gateway.url).chat.completions.create(chat)).choices;
    expect(choice!.finish_reason).toBe("content_filter");
    if (!isStream) expect(choice).toMatchObject({ message: { refusal: finishMessage } });
    expect(upstream.requests.length - before).toBe(1);
  }
});

test("an OpenAI SDK gets a stream, for which weir asks with alt=sse", async () => {
  upstream.answer(() => stream(STREAM));
  const chunks = await Array.fromAsync(
    await openaiClient(gateway.url).chat.completions.create({ ...chat, stream: true }),
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hello there.");
  expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(["stop"]);
  const { path, headers } = lastRequest();
  expect(path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  expect(headers.get("accept-encoding")).toBe("identity");
});

test("an Anthropic SDK gets a JSON answer and a stream", async () => {
  upstream.answer(() => json(WHOLE));
  const answer = await anthropicClient(gateway.url).messages.create(message);
  expect(answer).toMatchObject({
    content: [{ type: "text", text: "Hello there." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 9, output_tokens: 7 },
  });
  upstream.answer(() => stream(STREAM));
  const streamed = await anthropicClient(gateway.url).messages.stream(message).finalMessage();
  expect(streamed).toMatchObject({
    content: [{ type: "text", text: "Hello there." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 9, output_tokens: 7 },
  });
});

test("a model name with a slash, a percent sign, dots, a space and a colon stays one segment of the path", async () => {
  upstream.answer(() => json(WHOLE));
  await openaiClient(gateway.url).chat.completions.create({ ...chat, model: "gemini/../a%2Fb c:d" });
  expect(lastRequest().path).toBe("/v1beta/models/..%2Fa%252Fb%20c%3Ad:generateContent");
});

test("the path in front of a model name, as Google's lists have it, does not come twice", async () => {
  upstream.answer(() => json(WHOLE));
  for (const prefix of ["models/", "google/", "publishers/google/models/"]) {
    await openaiClient(gateway.url).chat.completions.create({
      ...chat,
      model: `gemini/${prefix}gemini-2.5-pro`,
    });
    expect(lastRequest().path).toBe("/v1beta/models/gemini-2.5-pro:generateContent");
  }
});

test("a stream that comes as one JSON array is read", async () => {
  upstream.answer(() => ({
    status: 200,
    headers: { "content-type": "application/json; charset=UTF-8" },
    body: `[${STREAM.map((body) => JSON.stringify(body)).join(",\r\n")}\n]\n`,
  }));
  const streamed = await anthropicClient(gateway.url).messages.stream(message).finalMessage();
  expect(streamed.content).toMatchObject([{ type: "text", text: "Hello there." }]);
});

const MALFORMED = { candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }] };

/** Without an SDK, whose own retries weir would leave the second attempt to. */
const ask = (body: JsonObject) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("a malformed call before any content is asked for once more, in a stream too; then it is a 502", async () => {
  for (const streamed of [false, true]) {
    const answer = (body: JsonObject) => (streamed ? stream([body]) : json(body));
    const before = upstream.requests.length;
    upstream.answer(() => answer(upstream.requests.length === before + 1 ? MALFORMED : WHOLE));
    const good = await ask({ ...chat, stream: streamed });
    expect([good.status, upstream.requests.length - before]).toEqual([200, 2]);
    expect(await good.text()).toContain("Hello there.");
    upstream.answer(() => answer(MALFORMED));
    const failed = await ask({ ...chat, stream: streamed });
    expect([failed.status, upstream.requests.length - before]).toEqual([502, 4]);
    expect(await failed.json()).toMatchObject({ error: { code: "malformed_tool_call" } });
  }
});

test("an error inside a stream reaches the clients of each format as an error", async () => {
  const failure = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
  upstream.answer(() => stream([STREAM[0]!, failure]));
  const read = async () => {
    const chunks = await openaiClient(gateway.url).chat.completions.create({ ...chat, stream: true });
    await Array.fromAsync(chunks);
  };
  await expect(read()).rejects.toThrow("The model is overloaded.");
  await expect(anthropicClient(gateway.url).messages.stream(message).finalMessage()).rejects.toThrow(
    "The model is overloaded.",
  );
  const items = async () => {
    const events = await openaiClient(gateway.url).responses.create({
      model: MODEL,
      input: "Hi",
      stream: true,
    });
    for await (const event of events)
      if (event.type === "response.failed") throw new Error(event.response.error?.message);
  };
  await expect(items()).rejects.toThrow("The model is overloaded.");
});

test("an OpenAI SDK that sends a call back unchanged returns Google's signature to its place", async () => {
  const called = record(
    [
      { functionCall: { name: "weather", args: { city: "Rom" } }, thoughtSignature: "c2lnbmVk" },
      { functionCall: { name: "weather", args: { city: "Oslo" } } },
    ],
    STOP,
    { usageMetadata: USAGE },
  );
  upstream.answer(() => json(called));
  const sdk = openaiClient(gateway.url);
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const tools = [{ type: "function" as const, function: { name: "weather", parameters } }];
  const model = "gemini/gemini-3-flash-preview";
  const { message: said } = (await sdk.chat.completions.create({ ...chat, model, tools })).choices[0]!;
  const results = said.tool_calls!.map(({ id }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: "sunny",
  }));
  for (const replayed of [
    said,
    // A client that drops what it does not know: weir remembers the signature.
    {
      role: said.role,
      content: said.content,
      tool_calls: said.tool_calls!.map(({ id, type, ...call }) => ({
        id,
        type,
        function: (call as { function: unknown }).function,
      })),
    },
    // A client that keeps the entries of OpenRouter's shape and no other member.
    {
      ...said,
      tool_calls: said.tool_calls!.map((call) => ({ ...call, extra_content: undefined })),
    },
  ]) {
    const messages = [...chat.messages, replayed as typeof said, ...results];
    await sdk.chat.completions.create({ model, tools, messages });
    const { contents } = lastRequest().json as { contents: { parts: JsonObject[] }[] };
    expect(contents[1]!.parts.map((part) => part["thoughtSignature"])).toEqual(["c2lnbmVk", undefined]);
  }
});

test("a stream that ends without a finish reason is an error, also where the connection breaks", async () => {
  for (const answer of [stream([STREAM[0]!]), cut(pieces([STREAM[0]!]), "rst")]) {
    upstream.answer(() => answer);
    const read = anthropicClient(gateway.url).messages.stream(message).finalMessage();
    await expect(read).rejects.toThrow();
  }
});

test("a connection that breaks or stays open behind the finish reason is no failure", async () => {
  for (const answer of [cut(pieces(STREAM), "rst"), stalled(pieces(STREAM))]) {
    upstream.answer(() => answer);
    const streamed = await anthropicClient(gateway.url).messages.stream(message).finalMessage();
    expect(streamed).toMatchObject({ content: [{ text: "Hello there." }], stop_reason: "end_turn" });
  }
}, 60_000);

test("a host that only the config describes lists its models in Google's shape, and serves them", async () => {
  const models = [
    { name: "models/gemini-9-flash", supportedGenerationMethods: ["generateContent", "countTokens"] },
    { name: "models/gemini-embedding-9", supportedGenerationMethods: ["embedContent"] },
  ];
  const host = startUpstream(({ path }) => json(path.startsWith("/v1beta/models?") ? { models } : WHOLE));
  const own = await startGateway({
    config: { providers: { house: { speaks: "gemini", baseUrl: host.url, apiKey: KEY } } },
  });
  try {
    const client = openaiClient(own.url);
    const answer = await client.chat.completions.create({ ...chat, model: "gemini-9-flash" });
    expect(answer.choices[0]?.message.content).toBe("Hello there.");
    const listed = (await client.models.list()).data.map(({ id }) => id);
    expect(listed).toContain("gemini-9-flash");
    expect(listed).not.toContain("gemini-embedding-9");
    expect(host.requests.map(({ path }) => path)).toContain("/v1beta/models/gemini-9-flash:generateContent");
    expect(host.requests.every(({ headers }) => headers.get("x-goog-api-key") === KEY)).toBe(true);
  } finally {
    await own.stop();
    host.stop();
  }
});
