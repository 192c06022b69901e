/** What a client learns of members that its provider does not get, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { lastLine } from "../helpers/embedding.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;
let gateway: RunningGateway;

/** An answer of the chat-completions format. */
const CHAT = {
  id: "c1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

beforeAll(async () => {
  upstream = startUpstream((request) => json(request.path.endsWith("/messages") ? MESSAGE : CHAT));
  const provider = (speaks: string, models: string[]) => ({
    speaks,
    baseUrl: speaks === "messages" ? upstream.url : `${upstream.url}/v1`,
    apiKey: "none-0123456789",
    models,
  });
  gateway = await startGateway({
    config: {
      providers: { chats: provider("chat-completions", ["c-*"]), messages: provider("messages", ["a-*"]) },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const user = { role: "user", content: "u" };
/** A client of each language, a model that is asked in another one, and the smallest request. */
const CLIENTS: readonly [
  format: string,
  path: string,
  body: JsonObject,
  nested: JsonObject,
  place: string,
][] = [
  [
    "chat-completions",
    "/v1/chat/completions",
    { model: "a-1", messages: [user] },
    { messages: [{ ...user, note: 1 }] },
    "messages[0].note",
  ],
  [
    "messages",
    "/v1/messages",
    { model: "c-1", max_tokens: 9, messages: [user] },
    { messages: [{ ...user, note: 1 }] },
    "messages[0].note",
  ],
  [
    "responses",
    "/v1/responses",
    { model: "c-1", input: "u" },
    { input: [{ ...user, note: 1 }] },
    "input[0].note",
  ],
  [
    "gemini",
    "/v1beta/models/c-1:generateContent",
    { contents: [{ parts: [{ text: "u" }] }] },
    { contents: [{ parts: [{ text: "u", note: 1 }] }] },
    "contents[0].parts[0].note",
  ],
  [
    "interactions",
    "/v1beta/interactions",
    { model: "c-1", input: "u" },
    { generation_config: { note: 1 } },
    "generation_config.note",
  ],
  [
    "ollama",
    "/api/chat",
    { model: "c-1", stream: false, messages: [user] },
    { messages: [{ ...user, note: 1 }] },
    "messages[0].note",
  ],
  [
    "ollama-generate",
    "/api/generate",
    { model: "c-1", stream: false, prompt: "u" },
    { options: { note: 1 } },
    "options.note",
  ],
];

function ask(path: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

describe.each(CLIENTS)("a %s client", (_format, path, body, nested, place) => {
  const asked = { ...body, grammar: 'root ::= "a"', ...nested };

  test("reads of members that weir does not know in a header, and the log has them", async () => {
    const response = await ask(path, asked);
    await response.text();
    expect([response.status, response.headers.get("x-weir-warnings")?.split(", ").sort()]).toEqual([
      200,
      ["unknown:grammar", `unknown:${place}`].sort(),
    ]);
    expect(JSON.stringify(await lastLine(gateway))).toContain("grammar");
  });

  test("gets a 400 instead that names one, if it is strict, and no provider is asked", async () => {
    const before = upstream.requests.length;
    const response = await ask(path, asked, { "x-weir-strict": "true" });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("grammar")]);
    expect(upstream.requests.length).toBe(before);
  });

  test("is told nothing of the plainest request, also if it is strict", async () => {
    const response = await ask(path, body, { "x-weir-strict": "true" });
    await response.text();
    expect([response.status, response.headers.get("x-weir-warnings")]).toEqual([200, null]);
  });
});

test("a provider of the client's format gets every byte, and the client no warning", async () => {
  const body = { model: "c-1", grammar: "root", messages: [{ ...user, note: 1 }] };
  const response = await ask("/v1/chat/completions", body, { "x-weir-strict": "true" });
  await response.text();
  expect([response.status, response.headers.get("x-weir-warnings")]).toEqual([200, null]);
  expect(Buffer.from(upstream.requests.at(-1)!.body).toString()).toBe(JSON.stringify(body));
});

test("safeguards that the provider cannot run are refused in Anthropic's words, and pass to Anthropic's format", async () => {
  const body = { max_tokens: 9, safeguards: [{ type: "a" }], messages: [user] };
  const refused = await ask("/v1/messages", { model: "c-1", ...body });
  expect([refused.status, await refused.json()]).toEqual([
    400,
    expect.objectContaining({
      error: expect.objectContaining({
        type: "invalid_request_error",
        message: expect.stringContaining("safeguards"),
      }),
    }),
  ]);
  const passed = await ask("/v1/messages", { model: "a-1", ...body });
  await passed.text();
  expect(passed.status).toBe(200);
  expect(Buffer.from(upstream.requests.at(-1)!.body).toString()).toContain('"safeguards":[{"type":"a"}]');
});
