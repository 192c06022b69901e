/** Google's own SDK against the gateway, over real sockets: every address it uses, streams, tools over several turns, errors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError, type Content, GoogleGenAI } from "@google/genai";
import type { JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { chatChunk } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEY = "a-key-of-the-gateway-123456";
const GOOGLE_KEY = "AIza-canary-5512gemini";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const { providers } = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
  gateway = await startGateway({
    config: {
      keys: [{ name: "k", key: KEY }],
      providers: {
        ...providers,
        gemini: { baseUrl: upstream.url },
        "gemini-tuned": { baseUrl: upstream.url },
      },
      timeouts: { heartbeatMs: 100 },
      retries: { attempts: 1 },
    },
    env: { GEMINI_API_KEY: GOOGLE_KEY },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

/** The addresses of the SDK: the Gemini API as it comes, the version of its documentation, Vertex AI in express mode. */
const CLIENTS: [string, () => GoogleGenAI][] = [
  ["v1", () => new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } })],
  [
    "v1beta",
    () => new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url, apiVersion: "v1beta" } }),
  ],
  [
    "Vertex AI",
    () => new GoogleGenAI({ vertexai: true, apiKey: KEY, httpOptions: { baseUrl: gateway.url } }),
  ],
];

const client = () => CLIENTS[0]![1]();

const post = (path: string, body: object, headers: Record<string, string> = { "x-goog-api-key": KEY }) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const HELLO = { contents: [{ parts: [{ text: "hello" }] }] };

/** The last request of the upstream. */
const received = () => {
  const { path, headers, body } = upstream.requests.at(-1)!;
  return {
    path,
    headers,
    bytes: body.toString("utf8"),
    json: JSON.parse(body.toString("utf8")) as JsonObject,
  };
};

describe.each(CLIENTS)("@google/genai at the address of %s", (_name, make) => {
  test("gets an answer with its counts", async () => {
    const answer = await make().models.generateContent({ model: "mock/echo", contents: "hello" });
    expect(answer.text).toBe("hello");
    expect(answer.candidates?.[0]?.finishReason as string).toBe("STOP");
    expect(answer.modelVersion).toBe("mock/echo");
    const usage = answer.usageMetadata!;
    expect(usage.totalTokenCount).toBe(usage.promptTokenCount! + usage.candidatesTokenCount!);
  });

  test("gets a stream whose last record alone has a finish reason and counts", async () => {
    const records = [];
    for await (const record of await make().models.generateContentStream({
      model: "mock/chat",
      contents: "hi",
    }))
      records.push(record);
    expect(records.map(({ text }) => text ?? "").join("")).toContain('You said: "hi"');
    const finished = records.filter(({ candidates }) => candidates?.[0]?.finishReason !== undefined);
    expect(finished).toEqual([records.at(-1)!]);
    expect(finished[0]!.usageMetadata!.totalTokenCount).toBeGreaterThan(0);
  });

  test("counts tokens, lists models and finds one", async () => {
    const ai = make();
    expect(
      (await ai.models.countTokens({ model: "mock/chat", contents: "hello" })).totalTokens,
    ).toBeGreaterThan(0);
    const names: string[] = [];
    for await (const { name } of await ai.models.list()) names.push(name!);
    expect(names).toContain("models/mock/chat");
    expect((await ai.models.get({ model: "mock/echo" })).name).toBe("models/mock/echo");
  });

  test("gets the status and the sentence of a refusal", async () => {
    const refused = make().models.generateContent({ model: "none/such", contents: "hello" });
    const error = await refused.then(
      () => undefined,
      (thrown: unknown) => thrown as ApiError,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error!.status).toBe(404);
    expect(error!.message).toContain("No provider serves the model `none/such`");
  });
});

test("paths of a project at Vertex AI and of other publishers name their models", async () => {
  const at = async (path: string) => ((await (await post(path, HELLO)).json()) as JsonObject).modelVersion;
  const project = "/v1beta1/projects/p/locations/us-central1/publishers";
  expect(await at(`${project}/google/models/mock/echo:generateContent`)).toBe("mock/echo");
  expect(await at(`${project}/mock/models/echo:generateContent`)).toBe("mock/echo");
  // The AI SDK puts no `models/` before a name with a slash.
  expect(await at("/v1beta/mock/echo:generateContent")).toBe("mock/echo");
});

test("a model name may have slashes, raw and encoded, and colons, also before an encoded method", async () => {
  for (const path of [
    "mock/echo:generateContent",
    "mock%2Fecho:generateContent",
    "mock%2Fecho%3AgenerateContent",
  ]) {
    const response = await post(`/v1beta/models/${path}`, HELLO);
    expect([path, response.status]).toEqual([path, 200]);
    expect(((await response.json()) as JsonObject).modelVersion).toBe("mock/echo");
  }
  const colon = await post("/v1beta/models/none/such:latest:generateContent", HELLO);
  expect(await colon.text()).toContain("`none/such:latest`");
});

test("a method or a path that weir does not serve is a 404 in Google's envelope", async () => {
  for (const path of [
    "/v1beta/models/x:predict",
    "/v1/models/x:predict",
    "/v1beta/corpora",
    "/v1alpha/batches",
  ]) {
    const response = await post(path, HELLO);
    const { error } = (await response.json()) as { error: JsonObject };
    expect([path, response.status, error.code, error.status]).toEqual([path, 404, 404, "NOT_FOUND"]);
  }
});

describe("the gateway key", () => {
  const path = "/v1beta/models/mock/echo:generateContent";

  test("is taken from Google's header, from a bearer token and from the query, which no log repeats", async () => {
    for (const headers of [["x-goog-api-key", KEY] as const, ["authorization", `Bearer ${KEY}`] as const].map(
      ([name, value]) => ({ [name]: value }),
    ))
      expect((await post(path, HELLO, headers)).status).toBe(200);
    expect((await post(`${path}?key=${KEY}`, HELLO, {})).status).toBe(200);
    expect((await post(`${path}?key=wrong-key-9876`, HELLO, {})).status).toBe(401);
    const list = await fetch(`${gateway.url}/v1beta/models?key=${KEY}`);
    expect(list.status).toBe(200);
    const unknown = await post(`/v1beta/models/x:predict?key=${KEY}`, HELLO, {});
    expect(await unknown.text()).not.toContain(KEY);
    expect(gateway.log.join("\n")).not.toContain(KEY);
    expect(gateway.log.join("\n")).not.toContain("wrong-key-9876");
  });

  test("is demanded with the headers that these clients send", async () => {
    const response = await post(path, HELLO, {});
    const { error } = (await response.json()) as { error: JsonObject };
    expect([response.status, error.status]).toEqual([401, "UNAUTHENTICATED"]);
    expect(error.message).toContain("`x-goog-api-key: KEY`");
  });

  test("of the client reaches no provider", async () => {
    upstream.answer(() =>
      json({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }] }),
    );
    await post(`/v1beta/models/gemini-2.5-flash:generateContent?key=${KEY}`, HELLO, {});
    expect(received().headers.get("x-goog-api-key")).toBe(GOOGLE_KEY);
    expect(received().path).not.toContain("key=");
  });
});

test("models are in Google's shape for its clients, and in the shape of all others for a bearer token", async () => {
  const list = async (headers: Record<string, string>, path = "/v1/models") =>
    (await (await fetch(gateway.url + path, { headers })).json()) as JsonObject;
  expect(Object.keys(await list({ "x-goog-api-key": KEY }))).toEqual(["models"]);
  expect(await list({ authorization: `Bearer ${KEY}` })).toMatchObject({ object: "list" });
  const one = await list({ "x-goog-api-key": KEY }, "/v1/models/mock/chat");
  expect(one).toMatchObject({
    name: "models/mock/chat",
    supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
  });
  const page = await list({ "x-goog-api-key": KEY }, "/v1beta/models?pageSize=2");
  expect(page).toMatchObject({ models: { length: 2 }, nextPageToken: "2" });
  const next = await list({ "x-goog-api-key": KEY }, "/v1beta/models?pageSize=2&pageToken=2");
  expect((next.models as JsonObject[])[0]).not.toEqual((page.models as JsonObject[])[0]!);
});

/** Pieces of a chat-completions answer. */
const CHAT = [
  chatChunk({ role: "assistant", content: "Hel" }),
  chatChunk({ content: "lo" }),
  chatChunk({}, "stop"),
];

describe("a stream", () => {
  const path = "/v1beta/models/openai/gpt-4.1:streamGenerateContent";

  test("has records without names and no terminator, and ends with a blank line", async () => {
    upstream.answer(() => sse([...CHAT, "data: [DONE]\n\n"]));
    const response = await post(`${path}?alt=sse`, HELLO);
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await response.text();
    expect(text).not.toMatch(/^event:/m);
    expect(text).not.toContain("[DONE]");
    expect(text).toEndWith("}\n\n");
    expect(text.match(/"finishReason"/g)).toHaveLength(1);
  });

  test("is one JSON array without `alt=sse`", async () => {
    upstream.answer(() => sse([...CHAT, "data: [DONE]\n\n"]));
    const response = await post(path, HELLO);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const records = (await response.json()) as { candidates: { content: { parts: { text: string }[] } }[] }[];
    expect(records.map(({ candidates }) => candidates[0]!.content.parts[0]!.text)).toEqual(["Hel", "lo", ""]);
  });

  test("that breaks off is an array that ends with the error, and a broken body", async () => {
    upstream.answer(() => sse(CHAT.slice(0, 2)));
    const { text, ending } = await readStreamed(await post(path, HELLO));
    const records = JSON.parse(text) as JsonObject[];
    expect(records).toHaveLength(3);
    expect(records[2]).toMatchObject({ error: { code: 502, status: "INTERNAL" } });
    expect(text.trimEnd()).toEndWith("]");
    expect(ending).toBe("broken");
  }, 15_000);

  test("that breaks off raises the error with its status in the SDK, and the error comes a second time alone", async () => {
    upstream.answer(() => sse(CHAT.slice(0, 2)));
    const stream = await client().models.generateContentStream({ model: "openai/gpt-4.1", contents: "hi" });
    let text = "";
    const read = (async () => {
      for await (const record of stream) text += record.text ?? "";
    })();
    const error = await read.then(
      () => undefined,
      (thrown: unknown) => thrown as ApiError,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error!.status).toBe(502);
    expect(text).toBe("Hello");
    const { text: whole } = await readStreamed(await post(`${path}?alt=sse`, HELLO));
    const [, record, again] = /(?:\n\n)data: (\{"error".*)\n\n(\{"error".*)\n\n$/.exec(whole)!;
    expect(again).toBe(record!);
  }, 15_000);

  test("that is silent gets comments, which the SDK does not see", async () => {
    upstream.answer(() => sse([CHAT[0]!, { wait: 450 }, ...CHAT.slice(1), "data: [DONE]\n\n"]));
    const response = await post(`${path}?alt=sse`, HELLO);
    expect((await response.text()).match(/^: keepalive$/gm)!.length).toBeGreaterThan(0);
    const stream = await client().models.generateContentStream({ model: "openai/gpt-4.1", contents: "hi" });
    let text = "";
    for await (const record of stream) text += record.text ?? "";
    expect(text).toBe("Hello");
  });

  test("that is silent is still a JSON array", async () => {
    upstream.answer(() => sse([CHAT[0]!, { wait: 450 }, ...CHAT.slice(1), "data: [DONE]\n\n"]));
    expect(await (await post(path, HELLO)).json()).toHaveLength(3);
  });
});

test("a refusal has a numeric code, a word and the time to wait", async () => {
  upstream.answer(() =>
    json({ error: { message: "Slow down.", type: "rate_limit" } }, 429, { "retry-after": "7" }),
  );
  const response = await post("/v1beta/models/openai/gpt-4.1:generateContent", HELLO);
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
  expect(await response.json()).toEqual({
    error: {
      code: 429,
      message: "Slow down.",
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }],
    },
  });
});

describe("a chat of the SDK with tools, over three turns", () => {
  const tools = [
    {
      functionDeclarations: [
        {
          name: "weather",
          parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } },
        },
      ],
    },
  ];

  async function run(model: string, isStream: boolean): Promise<string> {
    const chat = client().chats.create({
      model,
      config: { tools, thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" as never } },
    });
    const send = async (message: never) => {
      if (!isStream) return (await chat.sendMessage({ message })).functionCalls;
      const calls = [];
      for await (const record of await chat.sendMessageStream({ message }))
        calls.push(...(record.functionCalls ?? []));
      return calls;
    };
    const calls = await send("Weather in Rome and Oslo?" as never);
    expect(calls!.map(({ name, args }) => [name, args])).toEqual([
      ["weather", { city: "Rome" }],
      ["weather", { city: "Oslo" }],
    ]);
    const responses = calls!.map(({ id, name }, index) => ({
      functionResponse: { id, name, response: { output: `sun ${index}` } },
    }));
    await send(responses as never);
    const history: Content[] = chat.getHistory(true);
    return JSON.stringify(history);
  }

  const messagesEvents = (blocks: JsonObject[], reason: string) => [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    ...blocks.flatMap((block, index) => {
      const { signature, input, ...start } = block;
      const empty = start.type === "tool_use" ? { ...start, input: {} } : start;
      return [
        {
          type: "content_block_start",
          index,
          content_block: start.type === "thinking" ? { ...start, thinking: "", signature: "" } : empty,
        },
        ...(input
          ? [
              {
                type: "content_block_delta",
                index,
                delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
              },
            ]
          : []),
        ...(start.type === "thinking"
          ? [
              {
                type: "content_block_delta",
                index,
                delta: { type: "thinking_delta", thinking: start.thinking },
              },
            ]
          : []),
        ...(signature
          ? [{ type: "content_block_delta", index, delta: { type: "signature_delta", signature } }]
          : []),
        { type: "content_block_stop", index },
      ];
    }),
    { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ];
  const event = (data: JsonObject) => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;
  const CALLS: JsonObject[] = [
    { type: "thinking", thinking: "Two calls.", signature: "c2lnbmVk" },
    { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
    { type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Oslo" } },
  ];

  for (const isStream of [false, true])
    test(`at a messages provider, ${isStream ? "streamed" : "whole"}: ids, results and the vendor's signature come back`, async () => {
      upstream.answer(({ body }) => {
        const asked = JSON.parse(body.toString("utf8")) as { messages: JsonObject[]; stream?: boolean };
        const isFirst = asked.messages.length === 1;
        const blocks = isFirst ? CALLS : [{ type: "text", text: "Sunny." }];
        return sse(
          messagesEvents(blocks as JsonObject[], isFirst ? "tool_use" : "end_turn").map((one) =>
            event(one as JsonObject),
          ),
        );
      });
      await run("anthropic/claude-opus-4-6", isStream);
      const { messages } = received().json as { messages: { content: JsonObject[] }[] };
      expect(messages[1]!.content).toEqual(CALLS);
      expect(messages[2]!.content).toMatchObject([
        { type: "tool_result", tool_use_id: "toolu_1", content: "sun 0" },
        { type: "tool_result", tool_use_id: "toolu_2", content: "sun 1" },
      ]);
    });
});

describe("at a provider of the format", () => {
  const RECORDS = [
    { candidates: [{ content: { parts: [{ text: "Hel" }], role: "model" }, index: 0 }], unknown: 1 },
    {
      candidates: [{ content: { parts: [{ text: "lo" }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    },
  ];
  const written = RECORDS.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`);
  /** Space and order of members are the client's. */
  const BODY =
    '{ "generationConfig": {"topK": 40.0},\n"contents" : [{"parts":[{"text":"hi"}]}], "unknown": 1e2 }';
  const send = (path: string) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": KEY },
      body: BODY,
    });

  test("the body's bytes and the answer's bytes pass, and only the URL names the model", async () => {
    upstream.answer(() => sse(written));
    const response = await send("/v1/models/gemini/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(await response.text()).toBe(written.join(""));
    expect(response.headers.get("x-weir-lane")).toBe("native");
    expect(received().bytes).toBe(BODY);
    expect(received().path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  });

  test("a stream without `alt=sse` is one JSON array of the provider's records", async () => {
    upstream.answer(() => sse(written));
    const response = await send("/v1beta/models/gemini-2.5-flash:streamGenerateContent");
    expect(await response.json()).toEqual(RECORDS);
    expect(received().path).toEndWith(":streamGenerateContent?alt=sse");
  });

  test("a JSON answer passes", async () => {
    const answer = JSON.stringify(RECORDS[1], null, 1);
    upstream.answer(() => ({ headers: { "content-type": "application/json; charset=UTF-8" }, body: answer }));
    expect(await (await send("/v1beta/models/gemini-2.5-flash:generateContent")).text()).toBe(answer);
    expect(received().path).toBe("/v1beta/models/gemini-2.5-flash:generateContent");
  });

  test("tuned models keep their place in the path", async () => {
    upstream.answer(() => json(RECORDS[1]!));
    expect((await send("/v1beta/tunedModels/mine-7:generateContent")).status).toBe(200);
    expect(received().path).toBe("/v1beta/tunedModels/mine-7:generateContent");
  });

  test("tokens are counted by the provider", async () => {
    upstream.answer(() => json({ totalTokens: 31, promptTokensDetails: [] }));
    const { totalTokens } = await client().models.countTokens({ model: "gemini-2.5-flash", contents: "hi" });
    expect(totalTokens).toBe(31);
    expect(received().path).toBe("/v1beta/models/gemini-2.5-flash:countTokens");
  });

  test("signatures of another vendor do not reach Google", async () => {
    upstream.answer(() => json(RECORDS[1]!));
    const sealed = Buffer.from("weir1.anthropic.c2lnbmVk").toString("base64");
    const response = await post("/v1beta/models/gemini-2.5-flash:generateContent", {
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "a", thoughtSignature: sealed }] },
        { role: "user", parts: [{ text: "b" }] },
      ],
    });
    expect(response.headers.get("x-weir-lane")).toBe("native");
    expect(received().bytes).not.toContain(sealed);
    expect(received().bytes).toContain('{"text":"a"}');
  });
});

test("explain takes the model and the stream beside the members of the body", async () => {
  const explain = async (body: JsonObject) =>
    (await (await post("/v1/explain?format=gemini", body)).json()) as { request: JsonObject };
  const body = { model: "gemini/gemini-2.5-flash", stream: true, ...HELLO };
  const native = await explain(body);
  expect(native.request.body).toEqual(HELLO as unknown as JsonObject);
  expect(native.request.url).toEndWith("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  const translated = await explain({ ...body, model: "openai/gpt-4.1" });
  expect(isObject(translated.request.body) && translated.request.body.stream).toBe(true);
  const recognised = await post("/v1/explain", { model: "mock/chat", ...HELLO });
  expect(await recognised.json()).toMatchObject({ format: "gemini" });
  const unnamed = await post("/v1/explain?format=gemini", HELLO);
  expect(unnamed.status).toBe(400);
});

test("credentials of providers reach no client", () => {
  expect(gateway.log.join("\n")).not.toContain(UPSTREAM_KEYS.openai);
});
