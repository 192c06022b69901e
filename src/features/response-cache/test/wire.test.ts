/** The cache of answers: what is answered from it, in each dialect, and what never is. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { droppedPlugin } from "../../../../test/helpers/dropped-plugin.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { STREAM } from "../../../../test/helpers/places.ts";
import { anthropicClient, openaiClient } from "../../../../test/helpers/sdk.ts";
import { makeToken, tokens } from "../../../../test/helpers/tokens.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { streamedText } from "../../../../test/helpers/streamed.ts";
import {
  json,
  silence,
  sse,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";

/** Requests of a model that only this test names. */
const MODEL = "host/some-model";
const KEYS = {
  ci: "ci-key-1234567890abcdef",
  "eval-1": "eval-key-1234567890abcdef",
  person: "person-key-1234567890abc",
};
/** The types of the SDK of Anthropic have no temperature any more. */
const GREEDY: object = { temperature: 0 };
const USE = { "x-weir-cache": "use" };

const hostAt = (url: string) => ({
  providers: { host: { baseUrl: `${url}/v1`, speaks: "chat-completions", models: ["some-model"] } },
});

/** The cache as a plugin file that an operator drops into the folder, in place of the built-in one: `DROPPED_CACHE=1`. */
const DROPPED = process.env["DROPPED_CACHE"] === "1";

async function withCache(config: Record<string, unknown>, cache: object) {
  if (!DROPPED) return { config: { ...config, cache } };
  return {
    config: { ...config, plugins: { "response-cache": cache } },
    plugins: { "response-cache.js": await droppedPlugin("response-cache") },
  };
}

let gateway: RunningGateway;
let upstream: Upstream;
/** What the host answers, if not as usual. */
let special: ((request: UpstreamRequest) => ReturnType<typeof json>) | undefined;
let number = 0;

const completion = (message: object, finish = "stop") =>
  json({
    id: `c${++number}`,
    object: "chat.completion",
    created: 1,
    model: "some-model",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });

beforeAll(async () => {
  upstream = startUpstream((request) => {
    if (special) return special(request);
    if (request.body.includes('"stream":true')) return sse(STREAM);
    return completion({ content: `answer ${number + 1}` });
  });
  gateway = await startGateway({
    env: { WEIR_STATE: "none" },
    ...(await withCache(
      { ...hostAt(upstream.url), keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })) },
      { keys: ["ci", "eval-*"], tools: ["get_*"], bytes: 1_000_000 },
    )),
  });
});

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

beforeEach(() => {
  special = undefined;
  upstream.requests.length = 0;
});

let asked = 0;
/** A prompt that no other test has. */
const fresh = () => `question ${++asked}`;

interface Told {
  cache: string | null;
  status: number;
  headers: Headers;
  body: Record<string, never>;
  text: string;
}

async function post(
  body: object,
  {
    key = "ci" as keyof typeof KEYS,
    headers = USE as Record<string, string>,
    path = "/v1/chat/completions",
  } = {},
): Promise<Told> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS[key]}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: MODEL, temperature: 0, ...body }),
  });
  const text = await streamedText(response);
  const parsed = text.startsWith("{") ? JSON.parse(text) : {};
  return {
    cache: response.headers.get("x-weir-cache"),
    status: response.status,
    headers: response.headers,
    body: parsed,
    text,
  };
}

const says = (content: string) => ({ messages: [{ role: "user", content }] });

/** What the header says of the same request, asked again and again. */
async function twice(body: object, how: Parameters<typeof post>[1] = {}): Promise<(string | null)[]> {
  return [(await post(body, how)).cache, (await post(body, how)).cache];
}

describe("with the SDKs of the vendors", () => {
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(() => {
    openai = openaiClient(gateway.url, { apiKey: KEYS.ci, headers: USE });
    anthropic = anthropicClient(gateway.url, { apiKey: KEYS.ci, headers: USE });
  });

  const inOpenai = async (content: string) => {
    const { data, response } = await openai.chat.completions
      .create({ model: MODEL, ...GREEDY, max_tokens: 50, messages: [{ role: "user", content }] })
      .withResponse();
    const { id, usage, choices } = data;
    return { cache: response.headers.get("x-weir-cache"), id, text: choices[0]!.message.content, usage };
  };
  const inAnthropic = async (content: string) => {
    const { data, response } = await anthropic.messages
      .create({ model: MODEL, ...GREEDY, max_tokens: 50, messages: [{ role: "user", content }] })
      .withResponse();
    const block = data.content[0] as Anthropic.TextBlock;
    return { cache: response.headers.get("x-weir-cache"), id: data.id, text: block.text, usage: data.usage };
  };
  const openaiStream = async (content: string) => {
    const { data, response } = await openai.chat.completions
      .create({
        model: MODEL,
        ...GREEDY,
        max_tokens: 50,
        stream: true,
        messages: [{ role: "user", content }],
      })
      .withResponse();
    const pieces: string[] = [];
    for await (const { choices } of data)
      if (choices[0]?.delta.content) pieces.push(choices[0].delta.content);
    return { cache: response.headers.get("x-weir-cache"), pieces };
  };
  const anthropicStream = async (content: string) => {
    const { data, response } = await anthropic.messages
      .create({
        model: MODEL,
        ...GREEDY,
        max_tokens: 50,
        stream: true,
        messages: [{ role: "user", content }],
      })
      .withResponse();
    const pieces: string[] = [];
    const types: string[] = [];
    for await (const event of data) {
      types.push(event.type);
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        pieces.push(event.delta.text);
    }
    return { cache: response.headers.get("x-weir-cache"), pieces, types };
  };

  test("the second answer is the first, with an id of its own, and the provider is called once", async () => {
    for (const ask of [inOpenai, inAnthropic]) {
      upstream.requests.length = 0;
      const prompt = fresh();
      const [first, second] = [await ask(prompt), await ask(prompt)];
      expect([first.cache, second.cache, upstream.requests.length]).toEqual(["miss", "hit", 1]);
      expect([second.text, second.usage]).toEqual([first.text, first.usage] as never);
      expect(second.id).not.toBe(first.id);
    }
  });

  test("a request of the same meaning in the other dialect is a hit, streamed or not", async () => {
    const prompt = fresh();
    const first = await inOpenai(prompt);
    const other = await inAnthropic(prompt);
    expect([first.cache, other.cache, other.text]).toEqual(["miss", "hit", first.text]);
    expect(other.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
    const streamed = await openaiStream(prompt);
    expect([streamed.cache, streamed.pieces.join("")]).toEqual(["hit", first.text!]);
    expect(upstream.requests.length).toBe(1);
  });

  test("a stream is recorded while it runs and replayed as a stream, in the same pieces", async () => {
    const prompt = fresh();
    const first = await openaiStream(prompt);
    const second = await openaiStream(prompt);
    expect([first.cache, second.cache, second.pieces.length]).toEqual(["miss", "hit", 6]);
    expect(second.pieces).toEqual(first.pieces);
    const other = await anthropicStream(prompt);
    expect([other.cache, other.pieces]).toEqual(["hit", first.pieces]);
    expect(other.types.at(0)).toBe("message_start");
    expect(other.types.at(-1)).toBe("message_stop");
    expect((await inAnthropic(prompt)).text).toBe(first.pieces.join(""));
    expect(upstream.requests.length).toBe(1);
  });

  test("responses of the Responses API are stored under ids of their own, and each continues its own conversation", async () => {
    const create = async (input: string, previous?: string) => {
      const body = {
        model: MODEL,
        ...GREEDY,
        input,
        ...(previous && { previous_response_id: previous }),
      };
      const { data, response } = await openai.responses.create(body).withResponse();
      return { cache: response.headers.get("x-weir-cache"), id: data.id, text: data.output_text };
    };
    const [one, two] = [fresh(), fresh()];
    const first = await create(one);
    const again = await create(one);
    expect([first.cache, again.cache, again.text]).toEqual(["miss", "hit", first.text]);
    expect(again.id).not.toBe(first.id);
    expect((await openai.responses.retrieve(again.id)).output_text).toBe(first.text);
    const other = await create(two);
    // The same question behind another conversation is another request, behind an equal one the same.
    expect([(await create("and?", first.id)).cache, (await create("and?", other.id)).cache]).toEqual([
      "miss",
      "miss",
    ]);
    expect((await create("and?", again.id)).cache).toBe("hit");
  });
});

describe("the meaning of a request", () => {
  test("does not depend on how it is written, who uses it and what weir does with it", async () => {
    const content = fresh();
    await post(says(content));
    for (const body of [
      { messages: [{ role: "user", content: [{ type: "text", text: content }] }] },
      { ...says(content), metadata: { run: "7" }, user: "someone", prompt_cache_key: "k" },
      { ...says(content), stream: true, stream_options: { include_usage: true } },
    ])
      expect((await post(body)).cache).toBe("hit");
  });

  test("does depend on the model, the texts and the options", async () => {
    const content = fresh();
    await post(says(content));
    for (const body of [
      { ...says(content), model: "mock/echo" },
      says(`${content} `),
      { ...says(content), max_tokens: 5 },
      { ...says(content), seed: 7 },
      { ...says(content), top_p: 0.5 },
      { ...says(content), stop: ["x"] },
      { ...says(content), response_format: { type: "json_object" } },
      { ...says(content), min_p: 0.1 },
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content },
        ],
      },
    ])
      expect((await post(body)).cache).toBe("miss");
  });

  test("does not depend on the ids of tool calls, but on members of schemas that weir has itself", async () => {
    const prompt = fresh();
    const turns = (id: string) => ({
      messages: [
        { role: "user", content: prompt },
        {
          role: "assistant",
          tool_calls: [{ id, type: "function", function: { name: "get_time", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: id, content: "noon" },
      ],
    });
    expect([(await post(turns("call_1"))).cache, (await post(turns("call_2"))).cache]).toEqual([
      "miss",
      "hit",
    ]);
    const offering = (name: string) => ({
      ...says(prompt),
      tools: [
        {
          type: "function",
          function: {
            name: "get_file",
            parameters: { type: "object", path: name, properties: { path: { const: name } } },
          },
        },
      ],
    });
    expect([(await post(offering("a"))).cache, (await post(offering("b"))).cache]).toEqual(["miss", "miss"]);
  });
});

describe("a call has to opt in", () => {
  test("without the header it is not answered from the cache, and nothing is said", async () => {
    expect(await twice(says(fresh()), { headers: {} })).toEqual([null, null]);
    expect(await twice(says(fresh()), { headers: { "x-weir-cache": "no" } })).toEqual([null, null]);
    expect(upstream.requests.length).toBe(4);
  });

  test("with a key that may not use the cache the answer says so", async () => {
    expect(await twice(says(fresh()), { key: "person" })).toEqual(["bypass; key", "bypass; key"]);
    expect(upstream.requests.length).toBe(2);
  });

  test("an answer is only given to the key that asked for it", async () => {
    const prompt = says(fresh());
    expect([(await post(prompt)).cache, (await post(prompt, { key: "eval-1" })).cache]).toEqual([
      "miss",
      "miss",
    ]);
  });

  test("refresh asks the provider, and its answer replaces the one before", async () => {
    const prompt = says(fresh());
    const textOf = ({ body }: Told) => (body as never as OpenAI.ChatCompletion).choices[0]!.message.content;
    const first = await post(prompt);
    const renewed = await post(prompt, { headers: { "x-weir-cache": "refresh" } });
    const last = await post(prompt);
    expect([first.cache, renewed.cache, last.cache]).toEqual(["miss", "refresh", "hit"]);
    expect(textOf(renewed)).not.toBe(textOf(first));
    expect(textOf(last)).toBe(textOf(renewed));
  });
});

describe("never cached", () => {
  const bypassed: Record<string, [object, string]> = {
    "a request with a temperature": [{ temperature: 0.7 }, "temperature"],
    "a request that leaves the temperature to the provider": [{ temperature: undefined }, "temperature"],
    "a tool that may act": [
      { tools: [{ type: "function", function: { name: "delete_file", parameters: { type: "object" } } }] },
      "tools",
    ],
    "a tool that may act beside one that does not": [
      {
        tools: ["get_time", "send_mail"].map((name) => ({
          type: "function",
          function: { name, parameters: { type: "object" } },
        })),
      },
      "tools",
    ],
    "log probabilities": [{ logprobs: true }, "fields"],
    "several choices": [{ n: 2 }, "fields"],
  };
  for (const [name, [more, reason]] of Object.entries(bypassed))
    test(name, async () => {
      const told = `bypass; ${reason}`;
      expect(await twice({ ...says(fresh()), ...more })).toEqual([told, told]);
      expect(upstream.requests.length).toBe(2);
    });

  test("a tool that the provider runs, whatever its name is", async () => {
    const body = {
      ...{ model: "mock/echo", max_tokens: 9, temperature: 0 },
      ...says(fresh()),
      tools: [{ type: "web_search_20250305", name: "get_web" }],
    };
    expect((await post(body, { path: "/v1/messages" })).cache).toBe("bypass; tools");
  });

  test("a call of a tool without side effects is, and has the same arguments", async () => {
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "get_time", arguments: '{"zone": "UTC"}' },
    };
    special = () => completion({ content: null, tool_calls: [call] }, "tool_calls");
    const tools = [{ type: "function", function: { name: "get_time", parameters: { type: "object" } } }];
    const body = { ...says(fresh()), tools };
    expect((await post(body)).cache).toBe("miss");
    const { cache, body: got } = await post(body);
    const { message, finish_reason } = (got as never as OpenAI.ChatCompletion).choices[0]!;
    expect([cache, finish_reason, message.tool_calls]).toEqual(["hit", "tool_calls", [call]] as never);
  });

  for (const finish of ["length", "content_filter"])
    test(`an answer that ended with ${finish}`, async () => {
      special = () => completion({ content: "half" }, finish);
      expect(await twice(says(fresh()))).toEqual(["miss", "miss"]);
    });

  test("an error, which reaches the client as always", async () => {
    special = () => json({ error: { message: "no", type: "invalid_request_error" } }, 400);
    const prompt = says(fresh());
    expect([(await post(prompt)).status, (await post(prompt)).status]).toEqual([400, 400]);
    special = undefined;
    expect(await twice(prompt)).toEqual(["miss", "hit"]);
  });

  test("a stream that breaks off", async () => {
    special = () => sse(STREAM.slice(0, 3));
    const prompt = { ...says(fresh()), stream: true };
    expect((await post(prompt)).text).not.toContain("[DONE]");
    special = undefined;
    expect(await twice(prompt)).toEqual(["miss", "hit"]);
  });

  test("a stream that its client leaves", async () => {
    special = () => sse([...STREAM.slice(0, 3), { wait: 400 }, ...STREAM.slice(3)]);
    const prompt = { ...says(fresh()), stream: true };
    const controller = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEYS.ci}`, "content-type": "application/json", ...USE },
      body: JSON.stringify({ model: MODEL, ...GREEDY, ...prompt }),
      signal: controller.signal,
    });
    await response.body!.getReader().read();
    controller.abort();
    special = undefined;
    // By now the provider has sent the rest.
    await Bun.sleep(600);
    expect(await twice(prompt)).toEqual(["miss", "hit"]);
  });

  test("an answer after a failed attempt", async () => {
    let failures = 1;
    special = () =>
      failures-- > 0
        ? json({ error: { message: "busy" } }, 500, { "retry-after": "0" })
        : completion({ content: "late" });
    const prompt = says(fresh());
    const first = await post(prompt);
    expect([first.status, first.headers.get("x-weir-attempts")]).toEqual([200, "2"]);
    special = undefined;
    expect(await twice(prompt)).toEqual(["miss", "hit"]);
  });
});

describe("a cache for all calls, without the header", () => {
  let open: RunningGateway;
  beforeAll(async () => {
    const cache = { keys: ["*"], header: false, maxTemperature: "any" };
    open = await startGateway(await withCache(hostAt(upstream.url), cache));
  });
  afterAll(() => open?.stop());

  const ask = async (body: object, headers: Record<string, string> = {}, path = "/v1/chat/completions") => {
    const response = await fetch(open.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: MODEL, ...body }),
    });
    return {
      cache: response.headers.get("x-weir-cache"),
      headers: response.headers,
      status: response.status,
    };
  };

  test("answers any client, also one that samples, unless the client says no", async () => {
    const prompt = { ...says(fresh()), temperature: 0.9 };
    expect([(await ask(prompt)).cache, (await ask(prompt)).cache]).toEqual(["miss", "hit"]);
    expect((await ask(prompt, { "x-weir-cache": "no" })).cache).toBe(null);
  });

  test("reports what was lost again, and refuses that in strict mode", async () => {
    const prompt = { ...says(fresh()), max_tokens: 9, top_k: 4 };
    const first = await ask(prompt, {}, "/v1/messages");
    const second = await ask(prompt, {}, "/v1/messages");
    expect([first.cache, second.cache]).toEqual(["miss", "hit"]);
    const lost = first.headers.get("x-weir-warnings");
    expect([lost, second.headers.get("x-weir-warnings")]).toEqual(["dropped:top_k", lost!]);
    expect((await ask(prompt, { "x-weir-strict": "true" }, "/v1/messages")).status).toBe(400);
  });
});

test("without keys there is no cache: the header means nothing, and calls keep their native lane", async () => {
  const off = await startGateway({ config: hostAt(upstream.url) });
  try {
    const body = JSON.stringify({ model: MODEL, ...GREEDY, ...says(fresh()) });
    const headers = { "content-type": "application/json", ...USE };
    for (let count = 0; count < 2; count++) {
      const response = await fetch(`${off.url}/v1/chat/completions`, { method: "POST", headers, body });
      expect(response.headers.get("x-weir-cache")).toBe(null);
      // The bytes of the provider.
      expect(((await response.json()) as { id: string }).id).toBe(`c${number}`);
    }
  } finally {
    await off.stop();
  }
});

test("a hit is a trace of its own: a span of the response cache that cost nothing, without the prompt", async () => {
  const receiver = startReceiver();
  const traced = await startGateway({
    ...(await withCache(
      {
        ...hostAt(upstream.url),
        ...{ state: "none", workers: 1, traces: { to: receiver.url } },
        prices: { "host/*": { input: 10, output: 20 } },
      },
      { keys: ["*"] },
    )),
  });
  const prompt = `${fresh()} canary-4c1b`;
  try {
    await traced.opened();
    for (let count = 0; count < 2; count++) {
      const response = await fetch(`${traced.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...USE },
        body: JSON.stringify({ model: MODEL, ...GREEDY, ...says(prompt) }),
      });
      await response.arrayBuffer();
    }
  } finally {
    await traced.stop();
    await receiver.stop();
  }
  const made = receiver.spans().filter(({ kind }) => kind === 3);
  const facts = (provider: string) =>
    made.find(({ attributes }) => attributes["weir.provider"] === provider)!.attributes;
  expect([made.length, new Set(made.map(({ traceId }) => traceId)).size]).toEqual([2, 2]);
  expect(facts("host")).toMatchObject({ "weir.cost.state": "metered", "gen_ai.usage.output_tokens": 7 });
  expect(facts("response-cache")).toMatchObject({
    "gen_ai.provider.name": "response-cache",
    "weir.cost.state": "free",
    "weir.cost.usd": 0,
  });
  expect(JSON.stringify([receiver.received, traced.log])).not.toContain("canary-4c1b");
});

test("callers without a key share no answers, and two tokens of one person do", async () => {
  const secret = "planted-secret-of-the-issuer";
  const own = await startGateway({
    target: "source",
    features: [tokens],
    ...(await withCache({ ...hostAt(upstream.url), state: "none", tokens: { secret } }, { keys: ["*"] })),
  });
  const prompt = fresh();
  const ask = async (sub: string, jti: string) => {
    const response = await fetch(`${own.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", ...USE },
        authorization: `Bearer ${makeToken({ sub, path: "/people", jti }, secret)}`,
      },
      body: JSON.stringify({ model: MODEL, ...GREEDY, ...says(prompt) }),
    });
    await response.arrayBuffer();
    return response.headers.get("x-weir-cache");
  };
  try {
    expect(await ask("anna", "1")).toBe("miss");
    expect(await ask("anna", "2")).toBe("hit");
    expect(await ask("bea", "1")).toBe("miss");
  } finally {
    await own.stop();
  }
});
