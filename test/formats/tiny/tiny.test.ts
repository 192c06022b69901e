/** A third format, in one plugin file: it is a route, a language of providers, and in every table that weir writes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Format } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { describeFormat } from "../../helpers/describe-format.ts";
import { describeProvider } from "../../helpers/describe-provider.ts";
import { explain } from "../../helpers/explained.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../../helpers/gateway.ts";
import { streamedText } from "../../helpers/streamed.ts";
import { type Answer, json, sse, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import tiny from "./tiny.ts";

const format: Format = tiny.formats![0]!;
const plugins = { "tiny.ts": await Bun.file(`${import.meta.dir}/tiny.ts`).text() };

const record = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const ANSWER = { text: "Good day.", why: "done", tokens: { in: 4, out: 3 } };
const STREAM = [
  record({ text: "Good " }),
  record({ text: "day." }),
  record({ why: "done", tokens: { in: 4, out: 3 } }),
];
const SAY = [
  { who: "system", text: "Be polite." },
  { who: "user", text: "Hello." },
];

describeFormat(
  format,
  {
    requests: [
      { name: "plain", text: JSON.stringify({ model: "m", say: SAY }) },
      {
        name: "with everything",
        text: JSON.stringify({ model: "m", say: SAY, limit: 9, mood: "good", stream: true }),
      },
    ],
    answers: [
      { name: "text", text: JSON.stringify(ANSWER) },
      { name: "cut", text: JSON.stringify({ ...ANSWER, why: "limit" }) },
      { name: "no answer", text: JSON.stringify({ error: { type: "api_error", message: "No." } }) },
    ],
    streams: [
      { name: "text", text: STREAM.join("") },
      { name: "without an end", text: STREAM.slice(0, 2).join("") },
      { name: "with a problem", text: STREAM[0] + record({ error: { type: "api_error", message: "No." } }) },
    ],
  },
  { provider: "tiny", model: "small" },
);

describeProvider(tiny.providers![0]!, { plugins });

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const { providers } = upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) as {
    providers: object;
  };
  const config = {
    providers: { ...providers, tiny: { baseUrl: `${upstream.url}/v1`, apiKey: "canary-tiny-0123456789" } },
    retries: { attempts: 1 },
  };
  gateway = await startGateway({ config, plugins, target: "source" });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const PATHS: Record<string, string> = {
  tiny: "/v1/tiny",
  "chat-completions": "/v1/chat/completions",
  messages: "/v1/messages",
};

/** What a client of the format sends. */
function requestOf(client: string, model: string, more: object): JsonObject {
  if (client === "tiny") return { model, say: SAY, limit: 50, ...more };
  const messages = [{ role: "user", content: "Hello." }];
  return client === "messages"
    ? { model, max_tokens: 50, system: "Be polite.", messages, ...more }
    : { model, max_tokens: 50, messages: [{ role: "system", content: "Be polite." }, ...messages], ...more };
}

async function ask(client: string, model: string, answer: Answer, more: object = {}, headers: object = {}) {
  upstream.answer(() => answer);
  const response = await fetch(gateway.url + PATHS[client]!, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(requestOf(client, model, more)),
  });
  return {
    status: response.status,
    headers: response.headers,
    text: await streamedText(response),
    sent:
      upstream.requests.length > 0
        ? (JSON.parse(upstream.requests.at(-1)!.body.toString()) as JsonObject)
        : {},
  };
}

const chatAnswer = json({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Good day." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 },
});
const messagesAnswer = json({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Good day." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 4, output_tokens: 3 },
});

describe("a client of the format", () => {
  test("gets the bytes of a provider of the format, and the provider gets its bytes", async () => {
    const { text, sent } = await ask("tiny", "tiny/small", json(ANSWER), { unknown: [1.0] });
    expect(JSON.parse(text)).toEqual(ANSWER);
    expect(sent).toEqual({ model: "small", say: SAY, limit: 50, unknown: [1] });
    expect((await ask("tiny", "tiny/small", sse(STREAM), { stream: true })).text).toBe(STREAM.join(""));
  });

  test("gets the answer of any other provider in its own words", async () => {
    for (const [model, answer] of [
      ["openai/gpt-4.1", chatAnswer],
      ["anthropic/claude-opus-4-6", messagesAnswer],
    ] as const)
      expect(JSON.parse((await ask("tiny", model, answer)).text)).toEqual(ANSWER);
  });

  test("gets a stream of any other provider as records of its own", async () => {
    const pieces = [
      { id: "c", choices: [{ index: 0, delta: { content: "Good " }, finish_reason: null }] },
      { id: "c", choices: [{ index: 0, delta: { content: "day." }, finish_reason: "stop" }] },
      { id: "c", choices: [], usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 } },
    ];
    const answer = sse([...pieces.map(record), "data: [DONE]\n\n"]);
    const { text } = await ask("tiny", "openai/gpt-4.1", answer, { stream: true });
    expect(text).toBe(STREAM.join(""));
  });

  test("gets every error in its own words, and a stream that fails ends in one", async () => {
    const refused = await ask("tiny", "tiny/small", json({}), { limit: 0 });
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      400,
      { error: { type: "invalid-request", message: expect.stringContaining("limit"), param: "limit" } },
    ]);
    const unknown = await ask("tiny", "nobody/has-it", json({}));
    expect([unknown.status, JSON.parse(unknown.text).error.type]).toEqual([404, "not-found"]);
    const cut = await ask("tiny", "tiny/small", sse(STREAM.slice(0, 2)), { stream: true });
    expect(cut.text).toStartWith(STREAM.slice(0, 2).join(""));
    expect(cut.text).toContain('data: {"error":');
  });
});

describe("a provider of the format", () => {
  test("gets the requests of clients of every other format, and they get its answer", async () => {
    for (const client of ["chat-completions", "messages"])
      for (const stream of [false, true]) {
        const { text, sent } = await ask(client, "tiny/small", stream ? sse(STREAM) : json(ANSWER), {
          stream,
        });
        expect(sent).toEqual({ model: "small", say: SAY, limit: 50, ...(stream && { stream: true }) });
        expect(text.replace(/\s/g, "")).toContain(stream ? '"day."' : '"Goodday."');
      }
  });

  test("has its losses told in the words of the client, and refused in strict mode", async () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const { headers } = await ask("chat-completions", "tiny/small", json(ANSWER), {
      tools,
      temperature: 0.5,
      stop: ["x"],
    });
    expect(headers.get("x-weir-warnings")).toBe("dropped:tools, dropped:stop, dropped:temperature");
    const other = await ask("messages", "tiny/small", json(ANSWER), { stop_sequences: ["x"] });
    expect(other.headers.get("x-weir-warnings")).toBe("dropped:stop_sequences");
    const strict = await ask(
      "messages",
      "tiny/small",
      json(ANSWER),
      { temperature: 0.5 },
      { "x-weir-strict": "true" },
    );
    expect(strict.status).toBe(400);
    expect(strict.text).toContain("temperature");
  });

  test("has its errors passed on in the dialect of the client, with the time to retry", async () => {
    const problem = json({ error: { type: "rate-limited", message: "Slow down." } }, 429, {
      "retry-after": "7",
    });
    for (const client of ["tiny", "chat-completions", "messages"]) {
      const { status, headers, text } = await ask(client, "tiny/small", problem);
      expect([client, status, headers.get("retry-after")]).toEqual([client, 429, "7"]);
      expect(text).toContain("Slow down.");
    }
  });
});

test("explain shows a request of the format to a provider of any format, with losses by its own paths", async () => {
  const body = { model: "openai/gpt-4.1", say: [...SAY, { who: "bot", text: "Good" }], mood: "good" };
  const seen = await explain(gateway.url, "tiny", body);
  if ("refused" in seen) throw new Error(JSON.stringify(seen.refused));
  expect(seen.sent.served_by).toMatchObject({ lane: "translated", format: "chat-completions" });
  expect(seen.sent.losses.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "downgraded say[2]",
    "dropped mood",
  ]);
  const native = await explain(gateway.url, "tiny", { ...body, model: "tiny/small" });
  expect(native).toMatchObject({ sent: { served_by: { lane: "native", format: "tiny" }, losses: [] } });
});

test("the OpenAPI document has the route of the format, with its schema", async () => {
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, { post?: { requestBody?: unknown } }>;
  };
  const operation = document.paths["/v1/tiny"]?.post;
  expect(operation).toBeDefined();
  const text = JSON.stringify(document);
  expect(text).toContain("TinyRequest");
  expect(JSON.stringify(operation!.requestBody)).toMatch(/TinyRequest|"say"/);
});

test("methods and slips of the path are answered as for the built-in formats", async () => {
  const get = await fetch(`${gateway.url}/v1/tiny`);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  expect(JSON.parse(await get.text())).toHaveProperty("error");
});
