/** Ollama's own SDK against the gateway, over real sockets: chats, prompts, tools, images, embeddings, models. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ChatResponse, Ollama } from "ollama";
import type { JsonObject } from "../../src/core/json.ts";
import { chatChunk } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEY = "a-key-of-the-gateway-123456";
/** A PNG of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let gateway: RunningGateway;
let upstream: Upstream;
let ollama: Ollama;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const { providers } = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
  gateway = await startGateway({
    config: {
      keys: [
        { name: "k", key: KEY },
        {
          name: "narrow",
          key: `${KEY}-narrow`,
          endpoints: ["ollama-generate", "models"],
          models: ["mock/*"],
        },
      ],
      providers: { ...providers, openai: { ...(providers["openai"] as object), speaks: "chat-completions" } },
      aliases: { "qwen3:latest": "mock/echo", "qwen3:8b": "mock/echo", gemma: "mock/echo" },
      retries: { attempts: 1 },
    },
  });
  ollama = clientWith(KEY);
});

beforeEach(() => void upstream.requests.splice(0));

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function clientWith(key: string): Ollama {
  return new Ollama({ host: gateway.url, headers: { authorization: `Bearer ${key}` } });
}

const hello = [{ role: "user", content: "hello" }];
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** The body of the last request that the upstream got. */
function sent(): JsonObject {
  return JSON.parse(upstream.requests.at(-1)!.body.toString()) as JsonObject;
}

async function collect<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe("a chat", () => {
  test("is answered whole, with counts and durations", async () => {
    const answer = await ollama.chat({ model: "mock/echo", messages: hello });
    expect(answer.message).toEqual({ role: "assistant", content: "hello" });
    expect([answer.model, answer.done, answer.done_reason]).toEqual(["mock/echo", true, "stop"]);
    expect(answer.prompt_eval_count).toBeGreaterThan(0);
    expect(answer.eval_count).toBeGreaterThan(0);
    expect(answer.total_duration).toBeGreaterThan(0);
    expect(new Date(answer.created_at).getFullYear()).toBeGreaterThan(2024);
  });

  test("is streamed, and only the last record is done", async () => {
    const records = await collect(await ollama.chat({ model: "mock/chat", messages: hello, stream: true }));
    expect(records.map(({ message }) => message.content).join("")).toContain('You said: "hello"');
    expect(records.filter(({ done }) => done)).toEqual([records.at(-1)!]);
    const { done_reason, eval_count, total_duration, eval_duration, prompt_eval_duration } = records.at(-1)!;
    expect(done_reason).toBe("stop");
    expect(eval_count).toBeGreaterThan(0);
    expect(Math.abs(total_duration - eval_duration - prompt_eval_duration)).toBeLessThanOrEqual(1);
  });

  test("is streamed unless the client says otherwise, as one value in each line", async () => {
    const ask = (body: object) =>
      fetch(`${gateway.url}/api/chat`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ model: "mock/echo", messages: hello, ...body }),
      });
    const streamed = await ask({});
    expect(streamed.headers.get("content-type")).toBe("application/x-ndjson");
    const text = await streamed.text();
    const lines = text.trimEnd().split("\n");
    expect(text.endsWith("}\n")).toBe(true);
    expect(lines.map((line) => (JSON.parse(line) as ChatResponse).done)).toEqual([
      ...lines.slice(1).map(() => false),
      true,
    ]);
    const whole = await ask({ stream: false });
    expect(whole.headers.get("content-type")).toBe("application/json");
    expect(((await whole.json()) as ChatResponse).done).toBe(true);
  });

  test("shows reasoning apart, and not to a client that wants none", async () => {
    const asked = { model: "mock/reason", messages: hello };
    const { message } = await ollama.chat({ ...asked, think: "high" });
    expect(message.thinking).toBeTruthy();
    expect(message.content).not.toContain(message.thinking!);
    const records = await collect(await ollama.chat({ ...asked, think: "high", stream: true }));
    expect(records.map(({ message }) => message.thinking ?? "").join("")).toBe(message.thinking!);
    expect((await ollama.chat({ ...asked, think: false })).message.thinking).toBeUndefined();
  });

  test("carries options, images and a schema to the provider", async () => {
    upstream.answer(() => sse([chatChunk({ content: "{}" }), chatChunk({}, "stop"), "data: [DONE]\n\n"]));
    const format = { type: "object", properties: { age: { type: "integer" } } };
    const answer = await ollama.chat({
      model: "gpt-4.1",
      messages: [{ role: "user", content: "Who?", images: [new Uint8Array(Buffer.from(PNG, "base64"))] }],
      format,
      options: { temperature: 0.5, num_predict: 50, stop: ["END"], seed: 7, num_ctx: 4096 },
      keep_alive: "5m",
    });
    expect(answer.message.content).toBe("{}");
    expect(sent()).toMatchObject({
      temperature: 0.5,
      stop: ["END"],
      seed: 7,
      response_format: { type: "json_schema", json_schema: { schema: format } },
      messages: [
        {
          content: [
            { type: "text", text: "Who?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
      ],
    });
    expect(sent()["max_tokens"] ?? sent()["max_completion_tokens"]).toBe(50);
  });

  test("names in a header what was not carried, and not what concerns a local machine", async () => {
    upstream.answer(() => json(chatAnswer({ content: "ok" })));
    const response = await fetch(`${gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({
        ...{ model: "gpt-4.1", messages: hello, stream: false, keep_alive: -1 },
        options: { min_p: 0.1, repeat_penalty: 1.2, num_ctx: 8192, num_gpu: 1 },
      }),
    });
    expect(response.headers.get("x-weir-warnings")).toBe(
      "dropped:options.min_p, dropped:options.repeat_penalty",
    );
  });

  test("without messages says that the model is loaded, and asks no provider", async () => {
    const { done, done_reason, message } = await ollama.chat({ model: "gpt-4.1", messages: [] });
    expect([done, done_reason, message.content]).toEqual([true, "load", ""]);
    const unloaded = await ollama.chat({ model: "gpt-4.1", messages: [], keep_alive: 0 });
    expect(unloaded.done_reason).toBe("unload");
    expect(await failure(ollama.chat({ model: "none/such", messages: [] }))).toMatchObject({
      status_code: 404,
    });
    expect(upstream.requests.length).toBe(0);
  });
});

function chatAnswer(message: object, finish = "stop"): JsonObject {
  return {
    ...{ id: "c1", object: "chat.completion", created: 1, model: "gpt-4.1" },
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  };
}

async function failure(pending: Promise<unknown>): Promise<{ message: string; status_code?: number }> {
  return pending.then(
    () => ({ message: "it did not fail" }),
    (thrown: unknown) => thrown as Error,
  );
}

describe("tools", () => {
  const calls = ["Oslo", "Rome"].map((city, index) => ({
    index,
    id: `call_${city}`,
    type: "function",
    function: { name: "weather", arguments: JSON.stringify({ city }) },
  }));

  test.each([true, false])("are called and their results find their calls, streamed: %p", async (stream) => {
    upstream.answer(() =>
      stream
        ? sse([chatChunk({ tool_calls: calls }), chatChunk({}, "tool_calls"), "data: [DONE]\n\n"])
        : json(chatAnswer({ content: null, tool_calls: calls }, "tool_calls")),
    );
    const asked = { model: "gpt-4.1", messages: hello, tools: [weather] };
    const records = stream
      ? await collect(await ollama.chat({ ...asked, stream: true }))
      : [await ollama.chat(asked)];
    const called = records.flatMap(({ message }) => message.tool_calls ?? []);
    expect(called.map((call) => call.function.arguments)).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
    expect(records.at(-1)!.done_reason).toBe("stop");

    upstream.answer(() => json(chatAnswer({ content: "Rain and sun." })));
    // As the SDK for Python keeps them: without ids.
    const kept = called.map(({ function: { name, arguments: args } }) => ({
      function: { name, arguments: args },
    }));
    const results = ["rain", "sun"].map((content) => ({ role: "tool", tool_name: "weather", content }));
    await ollama.chat({
      ...asked,
      messages: [...hello, { role: "assistant", content: "", tool_calls: kept }, ...results],
    });
    const [, assistant, ...answers] = sent()["messages"] as JsonObject[];
    const ids = (assistant!["tool_calls"] as JsonObject[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(answers.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual([
      [ids[0]!, "rain"],
      [ids[1]!, "sun"],
    ]);
  });

  test("with arguments that are no JSON fail the answer", async () => {
    const broken = [{ ...calls[0]!, function: { name: "weather", arguments: '{"city": Oslo}' } }];
    upstream.answer(() =>
      sse([chatChunk({ tool_calls: broken }), chatChunk({}, "tool_calls"), "data: [DONE]\n\n"]),
    );
    const stream = ollama.chat({ model: "gpt-4.1", messages: hello, tools: [weather], stream: true });
    expect((await failure(stream.then((records) => collect(records)))).message).toContain("tool call");
  });

  test("get the provider's signed reasoning back, although the client keeps no ids of calls", async () => {
    const input = { city: "Oslo" };
    const use = { type: "tool_use", id: "toolu_1", name: "weather", input };
    const thinking = { type: "thinking", thinking: "Look it up.", signature: "c2lnbmVk" };
    upstream.answer(() => json(messagesAnswer([thinking, use], "tool_use")));
    const asked = { model: "claude-opus-4-6", tools: [weather], think: true };
    const first = await ollama.chat({ ...asked, messages: hello });
    expect(first.message.thinking).toBe("Look it up.");

    upstream.answer(() => json(messagesAnswer([{ type: "text", text: "Rain." }], "end_turn")));
    const { content, tool_calls: [call] = [] } = first.message;
    const kept = { role: "assistant", content, tool_calls: [{ function: call!.function }] };
    await ollama.chat({ ...asked, messages: [...hello, kept, { role: "tool", content: "rain" }] });
    const [, assistant, result] = sent()["messages"] as { content: JsonObject[] }[];
    expect(assistant!.content[0]).toEqual(thinking);
    expect(result!.content[0]!["tool_use_id"]).toBe(assistant!.content[1]!["id"]!);

    // The same call in another conversation has other reasoning.
    await ollama.chat({
      ...asked,
      messages: [{ role: "user", content: "Norway?" }, kept, { role: "tool", content: "rain" }],
    });
    expect(JSON.stringify(sent())).not.toContain("c2lnbmVk");
  });

  function messagesAnswer(content: JsonObject[], reason: string): JsonObject {
    return {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-opus-4-6", content },
      ...{ stop_reason: reason, stop_sequence: null, usage: { input_tokens: 7, output_tokens: 3 } },
    };
  }
});

describe("a prompt", () => {
  test("is answered whole and streamed", async () => {
    const answer = await ollama.generate({ model: "mock/echo", prompt: "hello", system: "Repeat." });
    expect([answer.response, answer.done, answer.done_reason]).toEqual(["hello", true, "stop"]);
    const records = await collect(
      await ollama.generate({ model: "mock/reason", prompt: "hello", stream: true, think: true }),
    );
    expect(records.map(({ thinking }) => thinking ?? "").join("")).not.toBe("");
    expect(records.map(({ response }) => response).join("")).not.toBe("");
    expect(records.filter(({ done }) => done)).toEqual([records.at(-1)!]);
  });

  test("with a suffix or the tokens of a conversation is refused", async () => {
    for (const more of [{ suffix: "}" }, { context: [1, 2] }])
      expect(await failure(ollama.generate({ model: "gpt-4.1", prompt: "x", ...more }))).toMatchObject({
        status_code: 400,
        message: expect.stringContaining(Object.keys(more)[0]!),
      });
    expect(upstream.requests.length).toBe(0);
  });

  test("that is empty loads and unloads nothing", async () => {
    const load = await ollama.generate({ model: "mock/echo", prompt: "" });
    const unload = await ollama.generate({ model: "mock/echo", prompt: "", keep_alive: "0s", stream: true });
    expect([load.response, load.done_reason]).toEqual(["", "load"]);
    expect((await collect(unload)).map(({ done_reason }) => done_reason)).toEqual(["unload"]);
  });
});

test("embeddings are those of the other clients", async () => {
  const { embeddings, prompt_eval_count, total_duration } = await ollama.embed({
    model: "mock/embed",
    input: ["a", "b"],
    dimensions: 8,
  });
  const response = await fetch(`${gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/embed", input: ["a", "b"], dimensions: 8 }),
  });
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  expect(embeddings).toEqual(data.map(({ embedding }) => embedding));
  expect(prompt_eval_count).toBeGreaterThan(0);
  expect(total_duration).toBeGreaterThan(0);
  expect((await ollama.embed({ model: "mock/embed:latest", input: "a" })).embeddings.length).toBe(1);
  const { embedding } = await ollama.embeddings({ model: "mock/embed", prompt: "a" });
  expect(embedding.length).toBeGreaterThan(8);
});

describe("models", () => {
  test("are listed as GET /v1/models lists them, for the key that asks", async () => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } });
    const { data } = (await response.json()) as { data: { id: string }[] };
    const { models } = await ollama.list();
    expect(models.map(({ name }) => name)).toEqual(data.map(({ id }) => id));
    expect(new Set(models.map(({ digest }) => digest)).size).toBe(models.length);
    for (const model of models) {
      expect(model.model).toBe(model.name);
      expect(model.digest).toMatch(/^[0-9a-f]{64}$/);
      expect(model.details.families).toEqual([model.details.family]);
    }
    const narrow = await clientWith(`${KEY}-narrow`).list();
    const others = narrow.models.map(({ name }) => name).filter((name) => !name.startsWith("mock/"));
    // The aliases of models that the key may use.
    expect(others).toEqual(["qwen3:latest", "qwen3:8b", "gemma"]);
  });

  test("are shown with what is known about them", async () => {
    const known = await ollama.show({ model: "claude-opus-4-6" });
    expect(known.capabilities).toEqual(["completion", "tools", "vision", "thinking"]);
    const info = known.model_info as unknown as Record<string, unknown>;
    expect(info["general.architecture"]).toBe("anthropic");
    expect(info["anthropic.context_length"]).toBeGreaterThan(100_000);
    expect((await ollama.show({ model: "mock/echo:latest" })).capabilities).toContain("tools");
    expect(await failure(ollama.show({ model: "none/such" }))).toMatchObject({ status_code: 404 });
  });

  test("have a name with `:latest` and one without, but no other tag is dropped", async () => {
    const said = async (model: string) => (await ollama.chat({ model, messages: hello })).message.content;
    for (const model of ["gemma", "gemma:latest", "qwen3:latest", "qwen3:8b"])
      expect([model, await said(model)]).toEqual([model, "hello"]);
    expect(await failure(said("gemma:8b"))).toMatchObject({ status_code: 404 });
  });

  test("are not in memory, and the version is one that clients accept", async () => {
    expect(await ollama.ps()).toEqual({ models: [] });
    expect((await ollama.version()).version).toMatch(/^0\.\d+\.\d+$/);
  });

  test("cannot be pulled, created, copied, pushed or deleted, and the error says why", async () => {
    for (const change of [
      () => ollama.pull({ model: "qwen3" }),
      () => ollama.create({ model: "mine", from: "qwen3" }),
      () => ollama.copy({ source: "a", destination: "b" }),
      () => ollama.push({ model: "mine" }),
      () => ollama.delete({ model: "qwen3" }),
    ])
      expect(await failure(change())).toMatchObject({
        status_code: 404,
        message: expect.stringContaining("weir serves the models of its providers"),
      });
  });
});

test("a key that may not use the format is refused in its words", async () => {
  expect(await failure(clientWith("wrong-key-12345").list())).toMatchObject({ status_code: 401 });
  const narrow = clientWith(`${KEY}-narrow`);
  expect((await narrow.generate({ model: "mock/echo", prompt: "hello" })).response).toBe("hello");
  expect(await failure(narrow.chat({ model: "mock/echo", messages: hello }))).toMatchObject({
    status_code: 403,
    message: expect.stringContaining("may not use the endpoint ollama"),
  });
  expect(await failure(narrow.generate({ model: "gpt-4.1", prompt: "x" }))).toMatchObject({
    status_code: 403,
  });
  expect(await failure(narrow.show({ model: "gpt-4.1" }))).toMatchObject({ status_code: 403 });
});

test("a body has no content type in the examples of Ollama, but must have one if a web page sends it", async () => {
  const ask = async (headers: Record<string, string>) => {
    const body = Buffer.from(JSON.stringify({ model: "mock/echo", messages: hello, stream: false }));
    const init = { method: "POST", headers: { authorization: `Bearer ${KEY}`, ...headers }, body };
    return (await fetch(`${gateway.url}/api/chat`, init)).status;
  };
  expect(await ask({})).toBe(200);
  expect(await ask({ "content-type": "application/x-www-form-urlencoded" })).toBe(200);
  expect(await ask({ "content-type": "text/plain", origin: "https://page.example" })).toBe(415);
  expect(await ask({ "content-type": "application/json", origin: "https://page.example" })).toBe(200);
});

test("the credential of a provider reaches no client", async () => {
  upstream.answer(() => json({ error: { message: `bad key ${UPSTREAM_KEYS.openai}` } }, 401));
  const { message } = await failure(ollama.chat({ model: "gpt-4.1", messages: hello }));
  expect(message).not.toContain(UPSTREAM_KEYS.openai);
  expect(message).toContain("credential");
});
