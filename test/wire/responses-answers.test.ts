/**
 * Answers of `/v1/responses`: the vendor's SDK reads them, and the judge finds no fault, whatever the provider speaks, however
 * its answer comes in, and however it ends.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Response as ResponseObject } from "openai/resources/responses/responses";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import { type Scenario, chatAnswer, messagesAnswer, USAGE } from "../clients/answers.ts";
import { chatChunk, messagesEvent, messagesText } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { judgeResponseObject, judgeResponses, judgeWritten } from "../helpers/judge-responses.ts";
import { CHUNKINGS, cutInto } from "../helpers/recordings.ts";
import {
  type ScriptedAnswer,
  responsesBody,
  responsesError,
  responsesStream,
} from "../helpers/responses-events.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import {
  type Answer,
  cut,
  json,
  type Piece,
  sse,
  startUpstream,
  type Upstream,
} from "../helpers/upstream.ts";

let upstream: Upstream;
let gateway: RunningGateway;

/** Models by the format that their provider speaks. */
const CHAT = "host/m";
const MESSAGES = "anthropic/claude-opus-4-6";
const RESPONSES = "native/m";

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const baseUrl = `${upstream.url}/v1`;
  gateway = await startGateway({
    config: {
      providers: {
        ...(upstreamConfig({ anthropic: upstream.url }).providers as object),
        host: { baseUrl, speaks: "chat-completions", models: ["m"] },
        native: { baseUrl, speaks: "responses", models: ["m"] },
      },
      retries: { attempts: 1 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const TOOLS = ["read", "list"].map((name) => ({
  ...{ type: "function", name, description: name, strict: false },
  parameters: { type: "object", properties: { command: { type: "string" } } },
}));

const JSON_HEADERS = { "content-type": "application/json" };

async function post(
  body: JsonObject,
  url = gateway.url,
): Promise<{ status: number; bytes: Uint8Array; text: string }> {
  const response = await fetch(`${url}/v1/responses`, {
    ...{ method: "POST", headers: JSON_HEADERS },
    body: JSON.stringify(body),
  });
  const bytes = await response.bytes();
  return { status: response.status, bytes, text: Buffer.from(bytes).toString("utf8") };
}

const stream = (model: string, more: JsonObject = {}, url?: string) =>
  post({ model, input: "Hello", stream: true, ...more }, url);

/** The response of the last event. */
function terminalOf(bytes: Uint8Array): ResponseObject {
  // Behind `response.failed` comes `error`.
  const last = parseFrames(bytes).findLast(({ event }) => event !== "error");
  return (JSON.parse(last!.data) as { response: ResponseObject }).response;
}

const input = { command: 'echo ünï "quoted"', list: [1, null] };

const SCENARIOS: readonly Scenario[] = [
  { name: "text", text: "Hello – in pieces.", calls: [] },
  { name: "reasoning and text", reasoning: "Think first.", text: "Then speak.", calls: [] },
  { name: "a call", text: "One moment.", calls: [{ name: "read", input }] },
  {
    name: "reasoning and two calls, interleaved",
    reasoning: "Both at once.",
    calls: [
      { name: "read", input },
      { name: "list", input: {} },
    ],
  },
];

/** The scenario as a stream of responses. */
function responsesAnswer({ reasoning, text, calls }: Scenario): Answer {
  return sse(
    responsesStream({
      interleaved: true,
      items: [
        ...(reasoning === undefined
          ? []
          : [{ type: "reasoning", summary: [reasoning], encrypted: "c2Vh" } as const]),
        ...(text === undefined ? [] : [{ type: "message", text } as const]),
        ...calls.map(
          (call) =>
            ({ type: "function_call", name: call.name, arguments: JSON.stringify(call.input) }) as const,
        ),
      ],
    }),
  );
}

const FAMILIES: readonly { name: string; model: string; answer(scenario: Scenario): Answer }[] = [
  { name: "chat-completions", model: CHAT, answer: chatAnswer },
  { name: "messages", model: MESSAGES, answer: messagesAnswer },
  { name: "responses", model: RESPONSES, answer: responsesAnswer },
];

for (const { name, model, answer } of FAMILIES)
  describe(`a provider of ${name}`, () => {
    for (const scenario of SCENARIOS)
      for (const chunking of CHUNKINGS)
        test(`${scenario.name}, streamed (${chunking}): the judge and the SDK find no fault`, async () => {
          const { headers, body } = answer(scenario);
          const bytes = Buffer.from([...(body as string[])].join(""));
          upstream.answer(() => ({ headers, body: cutInto(bytes, chunking), framing: "chunked" }));
          const { status, bytes: sent } = await stream(model, { tools: TOOLS });
          expect(status).toBe(200);
          expect(await judgeWritten(sent)).toEqual([]);
          expectScenario(terminalOf(sent), scenario);
        });

    test("the stream and the body of the same answer say the same", async () => {
      for (const scenario of SCENARIOS) {
        upstream.answer(({ body }) => answered(answer(scenario), model, scenario, body));
        const { bytes } = await stream(model, { tools: TOOLS });
        const { status, text } = await post({ model, input: "Hello", tools: TOOLS });
        expect(status, text).toBe(200);
        const whole = JSON.parse(text) as ResponseObject;
        expect(judgeResponseObject(whole as unknown as JsonObject)).toEqual([]);
        expectScenario(whole, scenario);
        expect(bare(whole.output)).toEqual(bare(terminalOf(bytes).output));
      }
    });

    test("create, stream and parse of the SDK", async () => {
      const scenario: Scenario = { name: "JSON", text: '{"city":"Oslo"}', calls: [] };
      upstream.answer(({ body }) => answered(answer(scenario), model, scenario, body));
      const { responses } = openaiClient(gateway.url);
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      const asked = { model, input: "Where?" };
      expect((await responses.create(asked)).output_text).toBe(scenario.text!);
      expect((await responses.stream(asked).finalResponse()).output_text).toBe(scenario.text!);
      const parsed = await responses.parse({
        ...asked,
        text: {
          format: { type: "json_schema", name: "place", schema: { ...schema, additionalProperties: false } },
        },
      });
      expect(parsed.output_text).toBe(scenario.text!);
    });
  });

/** The scenario in JSON if the request asks for it. */
function answered(streamed: Answer, model: string, scenario: Scenario, body: Buffer): Answer {
  const asked = JSON.parse(body.toString("utf8")) as JsonObject;
  return asked["stream"] === true ? streamed : json(BODIES[model]!(scenario));
}

const BODIES: Readonly<Record<string, (scenario: Scenario) => JsonObject>> = {
  [CHAT]: ({ reasoning, text = null, calls }) => ({
    ...{ id: "c1", object: "chat.completion", created: 1, model: "up" },
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? "tool_calls" : "stop",
        message: {
          ...{ role: "assistant", content: text },
          ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
          tool_calls: calls.map((call, index) => ({
            ...{ id: `call_up_${index}`, type: "function" },
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          })),
        },
      },
    ],
    usage: {
      ...{
        prompt_tokens: USAGE.input,
        completion_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
      },
      prompt_tokens_details: { cached_tokens: USAGE.cached },
    },
  }),
  [MESSAGES]: ({ reasoning, text, calls }) => ({
    ...{ id: "m1", type: "message", role: "assistant", model: "up", stop_sequence: null },
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    content: [
      ...(reasoning === undefined
        ? []
        : [{ type: "thinking", thinking: reasoning, signature: "RXhhbXBsZSBzaWduYXR1cmU=" }]),
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map((call, index) => ({
        ...{ type: "tool_use", id: `toolu_up_${index}`, name: call.name },
        input: call.input as JsonObject,
      })),
    ],
    usage: {
      ...{ input_tokens: USAGE.input - USAGE.cached, output_tokens: USAGE.output },
      ...{ cache_read_input_tokens: USAGE.cached, cache_creation_input_tokens: 0 },
    },
  }),
  [RESPONSES]: ({ reasoning, text, calls }) =>
    responsesBody({
      items: [
        ...(reasoning === undefined
          ? []
          : [{ type: "reasoning", summary: [reasoning], encrypted: "c2Vh" } as const]),
        ...(text === undefined ? [] : [{ type: "message", text } as const]),
        ...calls.map(
          (call) =>
            ({ type: "function_call", name: call.name, arguments: JSON.stringify(call.input) }) as const,
        ),
      ],
    }),
};

function expectScenario(response: ResponseObject, { text, reasoning, calls }: Scenario): void {
  expect(response.status).toBe("completed");
  const texts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
  expect(texts.map((part) => (part.type === "output_text" ? part.text : part))).toEqual(
    text === undefined ? [] : [text],
  );
  const summaries = response.output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
  expect(summaries.map((part) => part.text)).toEqual(reasoning === undefined ? [] : [reasoning]);
  const called = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
  expect(called.map((item) => item.name)).toEqual(calls.map((call) => call.name));
  expect(called.map((item) => JSON.parse(item.arguments) as unknown)).toEqual(
    calls.map((call) => call.input),
  );
  expect(response.usage).toMatchObject({
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
  });
}

/** Items without what each answer has of its own. */
function bare(items: readonly object[]): unknown {
  const own = (name: string, value: unknown) =>
    name === "id" || name === "encrypted_content" ? undefined : value;
  return JSON.parse(JSON.stringify(items, own));
}

describe("the mock", () => {
  const asked = { model: "mock/chat", input: "Hello" };

  test("create and stream of the SDK", async () => {
    const { responses } = openaiClient(gateway.url);
    const { output_text: text } = await responses.create(asked);
    expect(text).toContain('You said: "Hello"');
    expect((await responses.stream(asked).finalResponse()).output_text).toBe(text);
  });

  for (const [model, more] of [
    ["mock/reason", {}],
    ["mock/tools", { tools: TOOLS }],
    ["mock/reason", { input: "Use read and list.", tools: TOOLS }],
    ["mock/empty", {}],
    ["mock/recall", { instructions: "Be short." }],
    ["mock/content-filter", {}],
  ] as [string, JsonObject][])
    test(`${model} with ${JSON.stringify(Object.keys(more))}: the judge and the SDK find no fault`, async () => {
      const { status, bytes } = await stream(model, more);
      expect(status).toBe(200);
      expect(await judgeWritten(bytes)).toEqual([]);
    });

  test("a custom tool is called as one, with its input as it is", async () => {
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-"a"\n+\\b\n*** End Patch';
    const { bytes } = await stream("mock/chat", {
      input: `Use apply_patch with\n\`\`\`\n${patch}\n\`\`\``,
      tools: [{ type: "custom", name: "apply_patch", description: "Edits files." }],
    });
    expect(await judgeWritten(bytes)).toEqual([]);
    expect(terminalOf(bytes).output).toMatchObject([
      { type: "custom_tool_call", name: "apply_patch", input: patch },
    ]);
  });

  test("its reasoning comes back to it, signed", async () => {
    const first = await post({
      model: "mock/reason",
      input: "Hello",
      include: ["reasoning.encrypted_content"],
    });
    const { output } = JSON.parse(first.text) as ResponseObject;
    const again = [{ role: "user", content: "Hello" }, ...output, { role: "user", content: "Again" }];
    const second = await post({ model: "mock/recall", input: again as unknown as JsonObject[] });
    const { output: recalled } = JSON.parse(second.text) as ResponseObject;
    const [message] = recalled.flatMap((item) => (item.type === "message" ? item.content : []));
    expect(message).toMatchObject({
      text: expect.stringContaining("assistant reasoned, signed: ") as string,
    });
  });
});

test("reasoning, text and calls of one answer go back as one turn, the reasoning once", async () => {
  const scenario: Scenario = {
    ...{ name: "all", reasoning: "Think.", text: "One moment." },
    calls: [{ name: "read", input }],
  };
  upstream.answer(() => messagesAnswer(scenario));
  const { bytes } = await stream(MESSAGES, { tools: TOOLS, include: ["reasoning.encrypted_content"] });
  const { output } = terminalOf(bytes);
  const results = output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output", call_id: item.call_id, output: "done" }]
      : [],
  );
  await stream(MESSAGES, { tools: TOOLS, input: [...(output as unknown as JsonObject[]), ...results] });
  const sent = JSON.parse(upstream.requests.at(-1)!.body.toString("utf8")) as {
    messages: { role: string; content: JsonObject[] }[];
  };
  const answers = sent.messages.filter(({ role }) => role === "assistant");
  expect(answers.map(({ content }) => content.map(({ type }) => type))).toEqual([
    ["thinking", "text", "tool_use"],
  ]);
});

const custom = { type: "custom", name: "apply_patch", description: "Edits files." };
const PATCH = '*** Begin Patch\n+say "hi" \\ ü\n*** End Patch';

describe("a custom tool", () => {
  const wrapped = JSON.stringify({ input: PATCH });
  const pieces = wrapped.match(/[^]{1,3}/g)!;
  const asChat = [
    chatChunk({
      tool_calls: [
        { index: 0, id: "c_1", type: "function", function: { name: "apply_patch", arguments: "" } },
      ],
    }),
    ...pieces.map((piece) => chatChunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    ...[chatChunk({}, "tool_calls"), "data: [DONE]\n\n"],
  ];
  const asMessages = [
    messagesText()[0]!,
    messagesEvent("content_block_start", {
      ...{ index: 0, content_block: { type: "tool_use", id: "t_1", name: "apply_patch", input: {} } },
    }),
    ...pieces.map((partial_json) =>
      messagesEvent("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } }),
    ),
    messagesEvent("content_block_stop", { index: 0 }),
    messagesEvent("message_delta", {
      ...{ delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 2 } },
    }),
    messagesEvent("message_stop"),
  ];
  for (const [model, events] of [
    [CHAT, asChat],
    [MESSAGES, asMessages],
  ] as const)
    test(`is a function at ${model}, and comes back as a custom tool call with its raw input`, async () => {
      upstream.answer(() => sse(events));
      const { bytes } = await stream(model, { tools: [custom] });
      expect(await judgeWritten(bytes)).toEqual([]);
      expect(terminalOf(bytes).output).toMatchObject([
        { type: "custom_tool_call", name: "apply_patch", input: PATCH, status: "completed" },
      ]);
    });
});

describe("how a stream ends", () => {
  const [begun, rest] = [
    [chatChunk({ role: "assistant", content: "Hel" }), chatChunk({ content: "lo" })],
    [chatChunk({}, "stop"), "data: [DONE]\n\n"],
  ];
  const halves = messagesText("Hel", "lo");

  const broken: [string, string, () => Answer][] = [
    ["cut", CHAT, () => sse(begun)],
    ["reset", CHAT, () => cut(begun, "rst")],
    ["cut", MESSAGES, () => sse(halves.slice(0, 4))],
    ["reset", MESSAGES, () => cut(halves.slice(0, 4), "rst")],
    [
      "cut",
      RESPONSES,
      () => sse(responsesStream({ items: [{ type: "message", text: "Hello" }] }).slice(0, 6)),
    ],
    [
      "reset",
      RESPONSES,
      () => cut(responsesStream({ items: [{ type: "message", text: "Hello" }] }).slice(0, 6), "rst"),
    ],
  ];
  for (const [how, model, answer] of broken)
    test(`${how} by ${model} in mid text: one response.failed with the next number, and a regular end`, async () => {
      upstream.answer(answer);
      const sent = await readFailed({ model, input: "Hello", stream: true });
      expect(judgeResponses(parseFrames(sent))).toEqual([]);
      const { status, error } = terminalOf(sent);
      expect(status).toBe("failed");
      expect(error?.code).toBe("server_error");
    });

  test("cut behind the end of the answer: it is complete", async () => {
    for (const [model, answer] of [
      [CHAT, () => cut([...begun, ...rest], "rst")],
      [MESSAGES, () => cut(halves, "rst")],
      [RESPONSES, () => cut(responsesStream({ items: [{ type: "message", text: "Hello" }] }), "rst")],
    ] as [string, () => Answer][]) {
      upstream.answer(answer);
      const { bytes } = await stream(model);
      expect(await judgeWritten(bytes)).toEqual([]);
      expect(terminalOf(bytes).status).toBe("completed");
    }
  });

  test("at the output limit: incomplete, with the text so far", async () => {
    for (const [model, events] of [
      [CHAT, [...begun, chatChunk({}, "length"), "data: [DONE]\n\n"]],
      [MESSAGES, halves.map((event) => event.replace("end_turn", "max_tokens"))],
      [RESPONSES, responsesStream({ items: [{ type: "message", text: "Hello" }], status: "incomplete" })],
    ] as const) {
      upstream.answer(() => sse(events));
      const { bytes } = await stream(model);
      expect(await judgeWritten(bytes)).toEqual([]);
      const { status, incomplete_details: details, output } = terminalOf(bytes);
      expect({ status, details }).toEqual({ status: "incomplete", details: { reason: "max_output_tokens" } });
      expect(output).toMatchObject([{ status: "incomplete", content: [{ text: "Hello" }] }]);
    }
  });

  test("in the middle of a call's arguments: incomplete, with the arguments so far", async () => {
    upstream.answer(() =>
      sse([
        chatChunk({
          tool_calls: [
            { index: 0, id: "c_1", type: "function", function: { name: "read", arguments: '{"pa' } },
          ],
        }),
        ...[chatChunk({}, "length"), "data: [DONE]\n\n"],
      ]),
    );
    const { bytes } = await stream(CHAT, { tools: TOOLS });
    expect(await judgeWritten(bytes)).toEqual([]);
    expect(terminalOf(bytes)).toMatchObject({
      status: "incomplete",
      output: [{ type: "function_call", status: "incomplete", arguments: '{"pa' }],
    });
  });

  test("with a refusal: a refusal part", async () => {
    upstream.answer(() => sse([chatChunk({ role: "assistant", refusal: "I do not." }), ...rest]));
    const { bytes } = await stream(CHAT);
    expect(await judgeWritten(bytes)).toEqual([]);
    expect(terminalOf(bytes).output).toMatchObject([
      { content: [{ type: "refusal", refusal: "I do not." }] },
    ]);
  });

  test("without any content: completed, without items", async () => {
    const { bytes } = await stream("mock/empty");
    expect(await judgeWritten(bytes)).toEqual([]);
    expect(terminalOf(bytes)).toMatchObject({ status: "completed", output: [] });
  });

  test("a call whose name comes behind its arguments is added once, with the name", async () => {
    upstream.answer(() =>
      sse([
        chatChunk({
          tool_calls: [{ index: 0, id: "c_1", type: "function", function: { arguments: '{"a"' } }],
        }),
        chatChunk({ tool_calls: [{ index: 0, function: { name: "read", arguments: ":1}" } }] }),
        ...[chatChunk({}, "tool_calls"), "data: [DONE]\n\n"],
      ]),
    );
    const { bytes } = await stream(CHAT, { tools: TOOLS });
    expect(await judgeWritten(bytes)).toEqual([]);
    expect(terminalOf(bytes).output).toMatchObject([{ name: "read", arguments: '{"a":1}' }]);
  });
});

/** What came until the stream broke or ended. */
/** The bytes of a failed stream. @throws if its body breaks */
async function readFailed(body: JsonObject): Promise<Buffer> {
  const response = await fetch(`${gateway.url}/v1/responses`, {
    ...{ method: "POST", headers: JSON_HEADERS },
    body: JSON.stringify(body),
  });
  return Buffer.from(await response.arrayBuffer());
}

describe("a provider of responses, for clients of the other formats", () => {
  const chat = () =>
    openaiClient(gateway.url).chat.completions.create({
      model: RESPONSES,
      messages: [{ role: "user", content: "Hello" }],
    });

  const scripted = (answer: ScriptedAnswer) =>
    upstream.answer(({ body }) => {
      const { stream: isStreamed } = JSON.parse(body.toString("utf8")) as JsonObject;
      return isStreamed === true ? sse(responsesStream(answer)) : json(responsesBody(answer));
    });

  test("response.failed is an error with its code", async () => {
    scripted({ items: [], status: "failed", error: { code: "rate_limit_exceeded", message: "Too many." } });
    expect(await seeError(() => chat())).toMatchObject({ code: "rate_limit_exceeded" });
  });

  test("a flat and a nested error event are the same error", async () => {
    const seen = await Promise.all(
      (["flat", "nested"] as const).map(async (shape) => {
        const [created] = responsesStream({ items: [] });
        upstream.answer(() => sse([created!, responsesError(shape, "server_error", "The model fell over.")]));
        return seeError(async () => {
          const chunks = await openaiClient(gateway.url).chat.completions.create({
            ...{ model: RESPONSES, messages: [{ role: "user", content: "Hello" }], stream: true },
          });
          for await (const chunk of chunks) void chunk;
        });
      }),
    );
    const told = seen.map(({ message, code, type }) => ({ message, code, type }));
    expect(told[0]!.message).toContain("The model fell over.");
    expect(told[1]).toEqual(told[0]!);
  });

  const odd: [string, Partial<ScriptedAnswer>][] = [
    ["a terminal event without output", { emptyOutput: true }],
    ["records without event names, and a [DONE]", { bare: true }],
    ["ids that change with every event", { rotatingIds: true }],
    ["a fraction in created_at", { more: { created_at: 1_700_000_000.25 } }],
  ];
  for (const [name, oddity] of odd)
    test(`${name}: text and calls arrive`, async () => {
      scripted({
        ...oddity,
        items: [
          { type: "message", text: "One moment." },
          { type: "function_call", name: "read", arguments: '{"path":"a"}' },
        ],
      });
      const text = await fetch(`${gateway.url}/v1/chat/completions`, {
        ...{ method: "POST", headers: JSON_HEADERS },
        body: JSON.stringify({
          ...{ model: RESPONSES, messages: [{ role: "user", content: "Hello" }], stream: true },
          tools: [{ type: "function", function: { name: "read", parameters: TOOLS[0]!.parameters } }],
        }),
      }).then((response) => response.text());
      const chunks = parseFrames(Buffer.from(text)).flatMap(({ data }) =>
        data === "[DONE]" ? [] : [JSON.parse(data)],
      );
      const deltas = (
        chunks as { choices: { delta: { content?: string; tool_calls?: JsonObject[] } }[] }[]
      ).flatMap(({ choices }) => choices.map(({ delta }) => delta));
      expect(deltas.map(({ content }) => content ?? "").join("")).toBe("One moment.");
      const calls = deltas.flatMap(({ tool_calls: called = [] }) => called.map((call) => call["function"]));
      expect(calls.map((call) => (isObject(call) ? (call["arguments"] ?? "") : "")).join("")).toBe(
        '{"path":"a"}',
      );
      expect(text).toContain('"finish_reason":"tool_calls"');
    });
});

describe("errors before the first byte", () => {
  test("have the envelope of the vendor, with code and param", async () => {
    const seen = await seeError(() =>
      openaiClient(gateway.url).responses.create({ model: "no-such-model", input: "x" }),
    );
    expect(seen).toMatchObject({ code: "model_not_found", param: "model" });
    const wrong = await seeError(() =>
      openaiClient(gateway.url).responses.create({ model: CHAT, input: 5 as unknown as string }),
    );
    expect(wrong).toMatchObject({ status: 400, param: "input", type: "invalid_request_error" });
  });

  test("keep status and sentence of the provider", async () => {
    const error = {
      message: "You sent too much.",
      type: "requests",
      code: "rate_limit_exceeded",
      param: null,
    };
    for (const model of [CHAT, RESPONSES]) {
      upstream.answer(() => json({ error }, 429));
      const seen = await seeError(() => openaiClient(gateway.url).responses.create({ model, input: "x" }));
      expect(seen.status).toBe(429);
      expect(seen.message).toContain("You sent too much.");
    }
  });
});

describe("while the provider is silent", () => {
  let slow: RunningGateway;

  beforeAll(async () => {
    const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] };
    slow = await startGateway({
      config: { providers: { host }, timeouts: { heartbeatMs: 200, holdMs: 200 } },
    });
  });

  afterAll(() => slow.stop());

  test("comments keep the stream alive, none of them within a record", async () => {
    const [first, ...others] = [chatChunk({ content: "Hello" }), chatChunk({}, "stop"), "data: [DONE]\n\n"];
    const pieces: Piece[] = [{ wait: 1_000 }, first!, { wait: 1_000 }, ...others];
    upstream.answer(() => sse(pieces));
    const { bytes, text } = await stream(CHAT, {}, slow.url);
    expect(await judgeWritten(bytes)).toEqual([]);
    const parts = text.split("\n\n").filter((part) => part !== "");
    expect(parts.filter((part) => part.startsWith(":")).length).toBeGreaterThan(1);
    for (const part of parts) expect(part).toMatch(/^(:[^\n]*|event: [^\n]+\ndata: \{.*\})$/);
    expect(text).not.toContain("event: keepalive");
  });
});
