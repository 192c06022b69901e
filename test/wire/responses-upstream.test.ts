/** Providers of responses, reached by clients of all formats. */
import { afterEach, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { responsesBody, responsesError, responsesStream } from "../helpers/responses-events.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { type Answer, json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway | undefined;
let upstream: Upstream | undefined;

afterEach(async () => {
  await gateway?.stop();
  upstream?.stop();
  gateway = upstream = undefined;
});

interface Started {
  url: string;
  /** Path and body of each request that the provider got. */
  sent(): { path: string; body: JsonObject }[];
  answer(answer: (request: JsonObject) => Answer): void;
}

/** A gateway with one provider at a host that answers `/v1/responses` and, if said so, `/v1/chat/completions`. */
async function start(
  providers: (url: string) => Record<string, unknown>,
  answer: (request: JsonObject, path: string) => Answer,
  plugins?: Record<string, string>,
): Promise<Started> {
  const fake = startUpstream(json({}));
  upstream = fake;
  const use = (given: typeof answer) =>
    fake.answer((request) => given(JSON.parse(request.body.toString() || "{}") as JsonObject, request.path));
  use(answer);
  gateway = await startGateway({
    config: { providers: providers(`${fake.url}/v1`), retries: { attempts: 1 } },
    ...(plugins && { plugins }),
  });
  return {
    url: gateway.url,
    sent: () =>
      fake.requests.map(({ path, body }) => ({ path, body: JSON.parse(body.toString()) as JsonObject })),
    answer: use,
  };
}

const KEY = "sk-none-0123456789";
const host = (url: string) => ({ host: { baseUrl: url, apiKey: KEY, speaks: "responses", models: ["m"] } });
const TEXT = [{ type: "message" as const, text: "Said in responses." }];
const answerWith =
  (items: Parameters<typeof responsesBody>[0]["items"]) =>
  (request: JsonObject): Answer =>
    request["stream"] === true ? sse(responsesStream({ items })) : json(responsesBody({ items }));
const COMPLETION = {
  id: "c",
  model: "m",
  choices: [{ index: 0, message: { content: "Said in chat." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
};
const CHUNKS = [
  `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta: { content: "Said in chat." }, finish_reason: "stop" }] })}\n\n`,
  "data: [DONE]\n\n",
];
const askMessages = (url: string, model: string) =>
  anthropicClient(url).messages.create({
    model,
    max_tokens: 64,
    messages: [{ role: "user", content: "hi" }],
  });

test("clients of chat-completions and messages get the text, the reasoning and the calls of a responses provider", async () => {
  const started = await start(
    host,
    answerWith([
      { type: "reasoning", summary: ["I think."], encrypted: "sealed" },
      ...TEXT,
      { type: "function_call", name: "look", arguments: '{"at":"x"}', callId: "call_1" },
    ]),
  );
  const message = await askMessages(started.url, "host/m");
  expect(message.content).toMatchObject([
    { type: "thinking", thinking: "I think." },
    { type: "text", text: "Said in responses." },
    { type: "tool_use", name: "look", input: { at: "x" } },
  ]);
  const stream = openaiClient(started.url).chat.completions.stream({
    model: "host/m",
    messages: [{ role: "user", content: "hi" }],
  });
  const completion = await stream.finalChatCompletion();
  expect(completion.choices[0]!.message).toMatchObject({
    content: "Said in responses.",
    tool_calls: [{ function: { name: "look", arguments: '{"at":"x"}' } }],
  });
  expect(started.sent().map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
}, 600_000);

test("a host without /responses is asked in chat-completions, and weir remembers that", async () => {
  for (const status of [404, 405]) {
    const started = await start(
      (url) => ({ openai: { baseUrl: url, apiKey: KEY, prefer: "responses" } }),
      (request, path) =>
        path === "/v1/responses"
          ? json({ detail: "Not Found" }, status)
          : request["stream"] === true
            ? sse(CHUNKS)
            : json(COMPLETION),
    );
    for (let call = 0; call < 2; call++)
      expect((await askMessages(started.url, "openai/gpt-4.1")).content).toMatchObject([
        { text: "Said in chat." },
      ]);
    const own = await openaiClient(started.url).responses.create({ model: "openai/gpt-4.1", input: "hi" });
    expect(own.output_text).toBe("Said in chat.");
    expect(started.sent().map(({ path }) => path)).toEqual([
      "/v1/responses",
      ...Array.from({ length: 3 }, () => "/v1/chat/completions"),
    ]);
    await gateway!.stop();
    upstream!.stop();
  }
}, 600_000);

test("at another base URL than the vendor's, translated calls use chat-completions unless the config prefers responses", async () => {
  for (const [prefer, path] of [
    [undefined, "/v1/chat/completions"],
    ["responses", "/v1/responses"],
  ] as const) {
    const started = await start(
      (url) => ({ openai: { baseUrl: url, apiKey: KEY, ...(prefer && { prefer }) } }),
      (request, at) => (at === "/v1/responses" ? answerWith(TEXT)(request) : json(COMPLETION)),
    );
    await askMessages(started.url, "openai/gpt-4.1");
    const chat = await openaiClient(started.url).chat.completions.create({
      model: "openai/gpt-4.1",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(chat.choices[0]!.message.content).toBe("Said in chat.");
    expect(started.sent().map((one) => one.path)).toEqual([path, "/v1/chat/completions"]);
    await gateway!.stop();
    upstream!.stop();
  }
}, 600_000);

const REFUSED = JSON.stringify({
  error: {
    message: "The encrypted content for item rs_1 could not be verified.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_encrypted_content",
  },
});
const hasReasoning = ({ input }: JsonObject) =>
  Array.isArray(input) && input.some((item) => isObject(item) && item.type === "reasoning");

test("a responses client's request is repeated once without reasoning that the provider cannot read", async () => {
  const started = await start(host, (request) =>
    hasReasoning(request)
      ? { status: 400, headers: { "content-type": "application/json" }, body: REFUSED }
      : answerWith(TEXT)(request),
  );
  const { data, response } = await openaiClient(started.url)
    .responses.create({
      model: "host/m",
      store: false,
      input: [
        { role: "user", content: "hi" },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "of another account" },
        { role: "user", content: "and?" },
      ],
    })
    .withResponse();
  expect(data.output_text).toBe("Said in responses.");
  expect(response.headers.get("x-weir-warnings")).toContain("dropped:reasoning");
  expect(started.sent().map(({ body }) => hasReasoning(body))).toEqual([true, false]);
}, 600_000);

test("a refusal without any reasoning in the request is not repeated", async () => {
  const started = await start(host, () => ({
    status: 400,
    headers: { "content-type": "application/json" },
    body: REFUSED,
  }));
  const error = await openaiClient(started.url)
    .responses.create({ model: "host/m", input: "hi" })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 400, code: "invalid_encrypted_content" });
  expect(started.sent()).toHaveLength(1);
}, 600_000);

const plugin = (traits: string) => ({
  "special.ts": `import { definePlugin } from "weir";
    export default definePlugin({ name: "special", providers: [{
      name: "special", models: ["special/*"], speaks: { responses: "/responses" }, traits: ${traits} }] });`,
});
const special = (url: string) => ({ special: { baseUrl: url } });

test("a stream whose ids change with each event has stable ids for a responses client", async () => {
  const started = await start(
    special,
    () => sse(responsesStream({ items: TEXT, rotatingIds: true })),
    plugin("{ rotatingIds: true }"),
  );
  const stream = openaiClient(started.url).responses.stream({ model: "special/m", input: "hi" });
  expect((await stream.finalResponse()).output_text).toBe("Said in responses.");
}, 600_000);

test("a host without custom tools gets a function, and the client its custom call", async () => {
  const started = await start(
    special,
    answerWith([{ type: "function_call", name: "patch", arguments: '{"input":"*** Begin"}' }]),
    plugin("{ customTools: false }"),
  );
  const answer = await openaiClient(started.url).responses.create({
    model: "special/m",
    input: "hi",
    tools: [{ type: "custom", name: "patch" }],
  });
  expect(answer.output).toMatchObject([{ type: "custom_tool_call", name: "patch", input: "*** Begin" }]);
  expect(started.sent()[0]!.body["tools"]).toMatchObject([{ type: "function", name: "patch" }]);
}, 600_000);

test("an error event of the provider fails a translated stream with its code", async () => {
  for (const shape of ["flat", "nested"] as const) {
    const [created] = responsesStream({ items: TEXT });
    const started = await start(host, () =>
      sse([created!, responsesError(shape, "rate_limit_exceeded", "Slow down.")]),
    );
    const error = await anthropicClient(started.url)
      .messages.stream({ model: "host/m", max_tokens: 64, messages: [{ role: "user", content: "hi" }] })
      .finalMessage()
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("Slow down.");
    await gateway!.stop();
    upstream!.stop();
  }
}, 600_000);
