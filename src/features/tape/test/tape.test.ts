/** Calls that are recorded on a tape, and answered from it without a provider. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { type ChatResponse, Ollama } from "ollama";
import type { JsonObject } from "../../../core/json.ts";
import { UPSTREAM_KEYS, upstreamConfig } from "../../../../test/helpers/gateway.ts";
import { anthropicClient, openaiClient, seeError } from "../../../../test/helpers/sdk.ts";
import { TapeStage } from "./stage.ts";
import { json, sse, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let stage: TapeStage;
beforeEach(async () => {
  stage = await TapeStage.make();
});
afterEach(() => stage.remove());

/** Status and body of an answer, as a client gets them. A body that breaks off ends with `(broken)`. */
async function ask(url: string, path: string, body: JsonObject): Promise<[status: number, body: string]> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  let text = "";
  try {
    const decoder = new TextDecoder();
    for await (const piece of response.body!) text += decoder.decode(piece, { stream: true });
  } catch {
    text += "(broken)";
  }
  return [response.status, text];
}

const HELLO = [{ role: "user", content: "Hello" }];

/** Hello in each dialect. */
const HELLOS: readonly (readonly [what: string, path: string, body: JsonObject])[] = [
  ["chat-completions", "/v1/chat/completions", { model: "mock/chat", messages: HELLO }],
  [
    "chat-completions, streamed",
    "/v1/chat/completions",
    { model: "mock/chat", stream: true, messages: HELLO },
  ],
  ["messages", "/v1/messages", { model: "mock/chat", max_tokens: 50, messages: HELLO }],
  [
    "messages, streamed",
    "/v1/messages",
    { model: "mock/chat", stream: true, max_tokens: 50, messages: HELLO },
  ],
  ["responses", "/v1/responses", { model: "mock/chat", input: "Hello" }],
  ["responses, streamed", "/v1/responses", { model: "mock/chat", stream: true, input: "Hello" }],
  [
    "gemini",
    "/v1beta/models/mock%2Fchat:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
  ],
  [
    "gemini, streamed",
    "/v1beta/models/mock%2Fchat:streamGenerateContent?alt=sse",
    { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
  ],
  ["ollama", "/api/chat", { model: "mock/chat", stream: false, messages: HELLO }],
  ["ollama, streamed", "/api/chat", { model: "mock/chat", messages: HELLO }],
  ["a prompt of ollama, streamed", "/api/generate", { model: "mock/chat", prompt: "Hello" }],
  ["a stream of ollama that breaks off", "/api/chat", { model: "mock/cut-after-3", messages: HELLO }],
  ["an error", "/v1/messages", { model: "mock/error-429", max_tokens: 50, messages: HELLO }],
  [
    "a stream that breaks off",
    "/v1/chat/completions",
    { model: "mock/cut-after-3", stream: true, messages: HELLO },
  ],
  [
    "a stream of messages that breaks off",
    "/v1/messages",
    { model: "mock/cut-after-3", stream: true, max_tokens: 50, messages: HELLO },
  ],
  ["embeddings", "/v1/embeddings", { model: "mock/embed", input: ["a", "b"] }],
  ["a count of tokens", "/v1/messages/count_tokens", { model: "mock/chat", messages: HELLO }],
];

for (const [what, path, body] of HELLOS)
  test(`a replayed answer has the recorded bytes: ${what}`, async () => {
    const recorded = await stage.record((url) => ask(url, path, body));
    expect(recorded[1].length).toBeGreaterThan(10);
    const replayed = await stage.replay((url) => ask(url, path, body));
    expect(replayed).toEqual(recorded);
  });

test("a replay asks no provider", async () => {
  const upstream = startUpstream(
    json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "gpt-4.1",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    }),
  );
  const options = { config: upstreamConfig({ openai: upstream.url }) };
  const body = { model: "gpt-4.1", messages: HELLO };
  const recorded = await stage.record((url) => ask(url, "/v1/chat/completions", body), options);
  expect(upstream.requests.length).toBe(1);
  await stage.replay(async (url) => {
    expect(await ask(url, "/v1/chat/completions", body)).toEqual(recorded);
    expect((await ask(url, "/v1/chat/completions", { ...body, model: "gpt-4.2" }))[0]).toBe(400);
  }, options);
  expect(upstream.requests.length).toBe(1);
  upstream.stop();
});

test("a replay needs no provider, no key and no config", async () => {
  const upstream = startUpstream(
    json({
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  );
  const body = { model: "claude-opus-4-8", max_tokens: 9, messages: HELLO };
  const recorded = await stage.record((url) => ask(url, "/v1/messages", body), {
    config: upstreamConfig({ anthropic: upstream.url }),
  });
  upstream.stop();
  expect(await stage.replay((url) => ask(url, "/v1/messages", body))).toEqual(recorded);
});

test("equal requests get their answers in the order of the tape, and then the last one", async () => {
  let count = 0;
  const upstream = startUpstream(() =>
    json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        { index: 0, message: { role: "assistant", content: `answer ${++count}` }, finish_reason: "stop" },
      ],
    }),
  );
  const body = { model: "gpt-4.1", messages: HELLO };
  const say = async (url: string) => {
    const [, text] = await ask(url, "/v1/chat/completions", body);
    return /answer \d/.exec(text)![0];
  };
  const twice = async (url: string) => [await say(url), await say(url)];
  await stage.record(twice, { config: upstreamConfig({ openai: upstream.url }) });
  upstream.stop();
  expect(await stage.replay(async (url) => [...(await twice(url)), await say(url)])).toEqual([
    "answer 1",
    "answer 2",
    "answer 2",
  ]);
});

describe("one tape serves both SDKs", () => {
  test("recorded with the OpenAI SDK, replayed to the Anthropic SDK", async () => {
    const recorded = await stage.record((url) =>
      openaiClient(url).chat.completions.create({
        model: "mock/chat",
        messages: [{ role: "user", content: "Hello" }],
      }),
    );
    await stage.replay(async (url) => {
      const asked = {
        model: "mock/chat",
        max_tokens: 50,
        messages: [{ role: "user" as const, content: "Hello" }],
      };
      const client = anthropicClient(url);
      for (const message of [
        await client.messages.create(asked),
        await client.messages.stream(asked).finalMessage(),
      ]) {
        const text = recorded.choices[0]!.message.content;
        expect(message.content).toMatchObject([{ type: "text", text }]);
        expect(message.stop_reason).toBe("end_turn");
        expect(message.usage.output_tokens).toBe(recorded.usage!.completion_tokens);
      }
    });
  });

  test("recorded as a stream of the Anthropic SDK, replayed to the OpenAI SDK", async () => {
    const asked = {
      model: "mock/chat",
      max_tokens: 50,
      messages: [{ role: "user" as const, content: "Hello" }],
    };
    const recorded = await stage.record((url) => anthropicClient(url).messages.stream(asked).finalMessage());
    const text = (recorded.content[0] as { text: string }).text;
    await stage.replay(async (url) => {
      const messages = [{ role: "user" as const, content: "Hello" }];
      const client = openaiClient(url);
      const completion = await client.chat.completions.create({ model: "mock/chat", messages });
      expect(completion.choices[0]!.message.content).toBe(text);
      expect(completion.usage!.completion_tokens).toBe(recorded.usage.output_tokens);
      const streamed = await client.chat.completions
        .stream({ model: "mock/chat", messages })
        .finalChatCompletion();
      expect(streamed.choices[0]).toMatchObject({ message: { content: text }, finish_reason: "stop" });
      const response = await client.responses.create({ model: "mock/chat", input: "Hello" });
      expect(response.output_text).toBe(text);
    });
  });

  test("recorded as a stream of Ollama's SDK, replayed to the OpenAI SDK, and the reverse", async () => {
    const messages = [{ role: "user" as const, content: "Hello" }];
    const asked = { model: "mock/chat", messages };
    const streamed = async (url: string) => {
      let text = "";
      let last: ChatResponse | undefined;
      for await (const record of await new Ollama({ host: url }).chat({ ...asked, stream: true })) {
        text += record.message.content;
        last = record;
      }
      return { text, tokens: last!.eval_count, done: last!.done };
    };
    const recorded = await stage.record(streamed);
    const completion = await stage.replay((url) => openaiClient(url).chat.completions.create(asked));
    expect(completion.choices[0]!.message.content).toBe(recorded.text);
    expect(completion.usage!.completion_tokens).toBe(recorded.tokens);
    const whole = await stage.replay((url) => new Ollama({ host: url }).chat(asked));
    expect(whole.message.content).toBe(recorded.text);

    await stage.record((url) => openaiClient(url).chat.completions.create(asked));
    const replayed = await stage.replay(streamed);
    expect(replayed.done).toBe(true);
    expect(replayed.text).toContain("Hello");
  });

  test("a job with tools has the same turns in the other dialect", async () => {
    const parameters = {
      type: "object" as const,
      properties: { path: { type: "string" } },
      required: ["path"],
    };
    const ended = await stage.record(async (url) => {
      const client = openaiClient(url);
      const tools = [{ type: "function" as const, function: { name: "read", parameters } }];
      const messages: Parameters<typeof client.chat.completions.create>[0]["messages"] = [
        { role: "user", content: "Read a.ts" },
      ];
      const turn = () => client.chat.completions.create({ model: "mock/tools", messages, tools });
      const first = (await turn()).choices[0]!.message;
      const [call] = first.tool_calls!;
      messages.push(first, { role: "tool", tool_call_id: call!.id, content: "return a - b" });
      const input = call!.type === "function" ? (JSON.parse(call!.function.arguments) as unknown) : undefined;
      return { input, text: (await turn()).choices[0]!.message.content };
    });
    expect(ended.text).toContain("return a - b");
    await stage.replay(async (url, { misses }) => {
      const client = anthropicClient(url);
      const tools = [{ name: "read", input_schema: parameters }];
      const messages: Parameters<typeof client.messages.stream>[0]["messages"] = [
        { role: "user", content: "Read a.ts" },
      ];
      const turn = () =>
        client.messages.stream({ model: "mock/tools", max_tokens: 99, messages, tools }).finalMessage();
      const first = await turn();
      expect(first.stop_reason).toBe("tool_use");
      const call = first.content.find((block) => block.type === "tool_use")!;
      expect([call.name, call.input]).toEqual(["read", ended.input]);
      messages.push(
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "return a - b" }] },
      );
      expect((await turn()).content).toMatchObject([{ type: "text", text: ended.text }]);
      expect(misses).toEqual([]);
    });
  });

  test("an error keeps its kind in the other dialect", async () => {
    await stage.record((url) =>
      ask(url, "/v1/chat/completions", { model: "mock/error-429", messages: HELLO }),
    );
    const error = await stage.replay((url) =>
      seeError(() =>
        anthropicClient(url).messages.create({
          model: "mock/error-429",
          max_tokens: 9,
          messages: [{ role: "user", content: "Hello" }],
        }),
      ),
    );
    expect(error).toMatchObject({ class: "RateLimitError", status: 429 });
  });

  test("a stream that broke off breaks off in the other dialect", async () => {
    const model = "mock/cut-after-3";
    await stage.record((url) =>
      ask(url, "/v1/messages", { model, stream: true, max_tokens: 50, messages: HELLO }),
    );
    const [, body] = await stage.replay((url) =>
      ask(url, "/v1/chat/completions", { model, stream: true, messages: HELLO }),
    );
    expect(body).toContain("This");
    expect(body).not.toContain("[DONE]");
  });
});

describe("a request that is not on the tape", () => {
  const messages = (content: string) => [
    { role: "system" as const, content: "You are a careful reviewer.\nBe brief." },
    { role: "user" as const, content },
  ];

  test("fails with the nearest recorded request as a diff, and the SDK does not repeat it", async () => {
    await stage.record(async (url) => {
      const client = openaiClient(url);
      await client.chat.completions.create({ model: "mock/chat", messages: messages("Review a.ts") });
      await client.chat.completions.create({
        model: "mock/chat",
        messages: [{ role: "user", content: "Hi" }],
      });
    });
    await stage.replay(async (url, { misses }) => {
      const client = openaiClient(url, { maxRetries: 2 });
      const error = await seeError(() =>
        client.chat.completions.create({ model: "mock/chat", messages: messages("Review b.ts") }),
      );
      expect(error).toMatchObject({ class: "BadRequestError", status: 400, code: "not_on_tape" });
      expect(error.message).toContain("is call 1;");
      expect(error.message).toContain("-   | Review a.ts\n+   | Review b.ts");
      expect(misses.length).toBe(1);
    });
  });

  test("shows an option that differs", async () => {
    await stage.record((url) =>
      ask(url, "/v1/chat/completions", { model: "mock/chat", temperature: 0, messages: HELLO }),
    );
    const [, body] = await stage.replay((url) =>
      ask(url, "/v1/chat/completions", { model: "mock/chat", temperature: 1, messages: HELLO }),
    );
    expect(JSON.parse(body).error.message).toContain("- temperature: 0\n+ temperature: 1");
  });

  test("is also told of an empty tape", async () => {
    await stage.record(async () => {});
    const [status, body] = await stage.replay((url) =>
      ask(url, "/v1/chat/completions", { model: "mock/chat", messages: HELLO }),
    );
    expect([status, JSON.parse(body).error.message]).toEqual([
      400,
      expect.stringContaining("has no call of the operation generate"),
    ]);
  });
});

test("members in another order, another stream flag and other ids of calls match", async () => {
  const tools = [
    { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
  ];
  const body = (id: string): JsonObject => ({
    model: "mock/chat",
    tools,
    messages: [
      ...HELLO,
      {
        role: "assistant",
        tool_calls: [{ id, type: "function", function: { name: "f", arguments: '{"a":1,"b":2}' } }],
      },
      { role: "tool", tool_call_id: id, content: "done" },
    ],
  });
  await stage.record((url) => ask(url, "/v1/chat/completions", body("call_1")));
  const other = JSON.parse(
    JSON.stringify(body("call_other")).replace('{\\"a\\":1,\\"b\\":2}', '{\\"b\\": 2, \\"a\\": 1}'),
  );
  const turned = Object.fromEntries(Object.entries({ ...other, stream: true }).toReversed()) as JsonObject;
  const [status, text] = await stage.replay((url) => ask(url, "/v1/chat/completions", turned));
  expect([status, text]).toEqual([200, expect.stringContaining("[DONE]")]);
});

describe("what differs with each run does not count", () => {
  const body = (day: string, chunk: string): JsonObject => ({
    model: "mock/chat",
    messages: [
      { role: "system", content: `Today's date is ${day}.` },
      { role: "user", content: "Run the test" },
      {
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "run", arguments: "{}" } }],
      },
      {
        role: "tool",
        tool_call_id: "c",
        content: `Chunk ID: ${chunk}\nWall time: 0.${chunk.length}12 seconds\nok`,
      },
    ],
  });
  const status = async (url: string, asked: JsonObject) => (await ask(url, "/v1/chat/completions", asked))[0];

  test("dates, and times and ids in results of tools", async () => {
    await stage.record((url) => status(url, body("2026-11-22", "7f4fdb")));
    expect(await stage.replay((url) => status(url, body("2027-01-01", "9b813b")))).toBe(200);
    const changed = body("2027-01-01", "9b813b");
    (changed["messages"] as JsonObject[])[3]!["content"] = "Chunk ID: 9b813b\nWall time: 0.2 seconds\nfailed";
    await stage.replay(async (url, { misses }) => {
      expect(await status(url, changed)).toBe(400);
      expect(misses[0]).toContain("-     | ok\n+     | failed");
      expect(misses[0]).not.toContain("9b813b");
    });
  });

  test("what the config names", async () => {
    const asked = (folder: string) => ({
      model: "mock/chat",
      messages: [{ role: "user", content: `In ${folder}` }],
    });
    await stage.record((url) => status(url, asked("/tmp/a1")));
    expect(await stage.replay((url) => status(url, asked("/tmp/b2")))).toBe(400);
    const config = { tape: { ignore: ["/tmp/\\w+"] } };
    expect(await stage.replay((url) => status(url, asked("/tmp/b2")), { config })).toBe(200);
  });

  test("an equal request comes before one that is only alike", async () => {
    const said = async (url: string, day: string) =>
      JSON.parse(
        (
          await ask(url, "/v1/chat/completions", {
            model: "mock/echo",
            messages: [{ role: "user", content: day }],
          })
        )[1],
      ).choices[0].message.content as string;
    await stage.record(async (url) => [await said(url, "2026-11-21"), await said(url, "2026-11-22")]);
    expect(await stage.replay((url) => said(url, "2026-11-22"))).toContain("2026-11-22");
  });
});

test("a whole answer takes its time where the time is kept", async () => {
  const upstream = startUpstream(async () => {
    await Bun.sleep(400);
    return json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    });
  });
  const body = { model: "gpt-4.1", messages: HELLO };
  const config = upstreamConfig({ openai: upstream.url });
  await stage.record((url) => ask(url, "/v1/chat/completions", body), { config });
  upstream.stop();
  const began = performance.now();
  await stage.replay((url) => ask(url, "/v1/chat/completions", body), { keepsTime: true });
  expect(performance.now() - began).toBeGreaterThan(390);
});

test("streams take their time where the time is kept", async () => {
  const body = { model: "mock/pace-30", stream: true, messages: HELLO };
  const timed = async (url: string) => {
    const began = performance.now();
    const answer = await ask(url, "/v1/chat/completions", body);
    return { answer, ms: performance.now() - began };
  };
  const recorded = await stage.record(timed);
  expect(recorded.ms).toBeGreaterThan(150);
  const kept = await stage.replay(timed, { keepsTime: true });
  expect(kept.answer).toEqual(recorded.answer);
  expect(kept.ms).toBeGreaterThan(recorded.ms / 2);
});

describe("secrets", () => {
  test("a credential in the place of the model is used for routing, and is on no tape; only the user reads the file", async () => {
    const secret = "sk-proj-pastedaskedmodel0123456789";
    const upstream = startUpstream(({ body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      const message = { role: "assistant", content: "Hi", refusal: null };
      const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }];
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      return json({ id: "c", object: "chat.completion", created: 1, model, choices, usage });
    });
    const body = { model: `openai/${secret}`, messages: HELLO };
    const [status] = await stage.record((url) => ask(url, "/v1/chat/completions", body), {
      config: upstreamConfig({ openai: upstream.url }),
    });
    upstream.stop();
    expect([status, JSON.parse(upstream.requests[0]!.body.toString()).model]).toEqual([200, secret]);
    expect(stage.entries[0]!.from).toEqual({ provider: "openai", model: "[credential]" });
    expect(readFileSync(stage.file, "utf8")).not.toContain(secret);
    expect(statSync(stage.file).mode & 0o777).toBe(0o600);
  });

  test("no credential of a client or a provider is on the tape", async () => {
    const upstream = startUpstream(({ headers }) => {
      const credential = headers.get("authorization");
      return json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: `You sent ${credential}` },
            finish_reason: "stop",
          },
        ],
      });
    });
    const clientKey = "weir_sk_clientclientclient0123";
    const pasted = "sk-proj-pastedpastedpasted0123456789";
    await stage.record(
      (url) =>
        openaiClient(url, { apiKey: clientKey }).chat.completions.create({
          model: "gpt-4.1",
          messages: [{ role: "user", content: `My key is ${pasted}` }],
        }),
      { config: upstreamConfig({ openai: upstream.url }) },
    );
    upstream.stop();
    const tape = readFileSync(stage.file, "utf8");
    for (const secret of [UPSTREAM_KEYS.openai, clientKey, pasted]) expect(tape).not.toContain(secret);
    expect(tape).toContain("My key is ***");
  });

  test("what the config masks is not on the tape and does not count", async () => {
    const config = { tape: { mask: ["\\d{4}-\\d\\d-\\d\\d"] } };
    const body = (day: string) => ({
      model: "mock/echo",
      messages: [{ role: "user", content: `Today is ${day}` }],
    });
    await stage.record((url) => ask(url, "/v1/chat/completions", body("2026-11-22")), { config });
    expect(readFileSync(stage.file, "utf8")).not.toContain("2026-11-22");
    const [status, text] = await stage.replay((url) => ask(url, "/v1/chat/completions", body("2027-01-01")), {
      config,
    });
    expect([status, text]).toEqual([200, expect.stringContaining("Today is ***")]);
  });

  test("a credential that two network reads share is not on the tape", async () => {
    const secret = "sk-proj-readinpiecesreadinpieces01";
    const event = `data: ${JSON.stringify({
      ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m", trace: secret },
      choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
    })}\n\n`;
    const middle = event.indexOf(secret) + 12;
    const upstream = startUpstream(sse([event.slice(0, middle), event.slice(middle), "data: [DONE]\n\n"]));
    const body = { model: "gpt-4.1", stream: true, messages: HELLO };
    const config = upstreamConfig({ openai: upstream.url });
    const [, text] = await stage.record((url) => ask(url, "/v1/chat/completions", body), { config });
    upstream.stop();
    expect(text).toContain(secret);
    expect(readFileSync(stage.file, "utf8")).not.toMatch(/sk-proj-|readinpieces/);
  });

  test("a credential in the pieces of a stream is not on the tape", async () => {
    const secret = "sk-proj-streamedstreamed0123456789";
    const body = { model: "mock/echo", stream: true, messages: [{ role: "user", content: secret }] };
    await stage.record((url) => ask(url, "/v1/chat/completions", body));
    const streamed = stage.entries[0]!.answer.join("").matchAll(/"content":"([^"]*)"/g);
    expect([...streamed].map(([, piece]) => piece).join("")).toBe("***");
  });
});

test("a call whose client left is not on the tape", async () => {
  await stage.record(async (url) => {
    const stop = new AbortController();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/slow", stream: true, messages: HELLO }),
      signal: stop.signal,
    });
    await response.body!.getReader().read();
    stop.abort();
    await ask(url, "/v1/chat/completions", { model: "mock/chat", messages: HELLO });
  });
  expect(stage.entries.map(({ call }) => call)).toEqual([2]);
});

test("a provider's own error event is replayed with its bytes", async () => {
  const events = [
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n',
    'data: {"error":{"message":"The engine stopped.","type":"server_error","code":null}}\n\n',
  ];
  const upstream = startUpstream(sse(events));
  const body = { model: "gpt-4.1", stream: true, messages: HELLO };
  const options = { config: upstreamConfig({ openai: upstream.url }) };
  const recorded = await stage.record((url) => ask(url, "/v1/chat/completions", body), options);
  upstream.stop();
  expect(recorded[1]).toContain("The engine stopped.");
  expect(await stage.replay((url) => ask(url, "/v1/chat/completions", body))).toEqual(recorded);
});
