/** A provider that speaks Converse over a socket, with the vendors' SDKs as clients and the AWS SDK as the second reader. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import type { Frame } from "../../src/core/frame.ts";
import { awsStream } from "../helpers/aws-event-stream.ts";
import { bedrockClient } from "../helpers/bedrock-client.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, type Piece, startUpstream, type Upstream } from "../helpers/upstream.ts";

const PLUGIN = (url: string) => `import { converse, definePlugin } from "weir";
export default definePlugin({ name: "converser", providers: [converse({ name: "converser", baseUrl: "${url}" })] });`;

const MODEL = "converser/us.anthropic.claude-haiku-4-5-20251001-v1:0";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: {
      retries: { attempts: 1 },
      providers: {
        plain: { speaks: "converse", baseUrl: upstream.url, apiKey: "key-0123456789ab", models: ["m"] },
      },
    },
    plugins: { "converser.ts": PLUGIN(upstream.url) },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const frame = (event: string, data: object): Frame => ({ event, data: JSON.stringify(data) });
const textDelta = (text: string) =>
  frame("contentBlockDelta", { contentBlockIndex: 1, delta: { text }, p: "abc" });
const BEGIN = [
  frame("messageStart", { role: "assistant" }),
  frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "" } }),
  frame("contentBlockStop", { contentBlockIndex: 0 }),
  textDelta("Grüße "),
  textDelta("😀."),
];
const STOP = [
  frame("contentBlockStop", { contentBlockIndex: 1 }),
  frame("messageStop", { stopReason: "end_turn" }),
];
const METADATA = frame("metadata", {
  usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
  metrics: { latencyMs: 9 },
});
const WHOLE = awsStream([...BEGIN, ...STOP, METADATA]);

const THROTTLED = frame("exception", { type: "throttlingException", message: "Too many requests." });
const BROKEN = frame("error", { type: "InternalFailure", message: "Something broke." });

/** The provider streams these pieces. */
function stream(pieces: Iterable<Piece>): void {
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  upstream.answer(() => ({ headers, body: pieces, framing: "chunked" }));
}

/** Clients of each format, and what ends a whole answer. */
const CLIENTS = [
  { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "hi" }] }, end: "[DONE]" },
  {
    path: "/v1/messages",
    body: { max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
    end: "message_stop",
  },
  { path: "/v1/responses", body: { input: "hi" }, end: "response.completed" },
];

const post = (path: string, body: object, model = MODEL) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, ...body }),
  });

async function streamed(path: string, body: object): Promise<string> {
  return (await readStreamed(await post(path, body), true)).text;
}

describe("a whole stream", () => {
  test("reaches clients of every format, wherever its bytes are cut", async () => {
    for (const { path, body, end } of CLIENTS)
      for (const at of [5, 13, Math.floor(WHOLE.length / 2), WHOLE.length - 1]) {
        stream([WHOLE.subarray(0, at), { wait: 5 }, WHOLE.subarray(at)]);
        const text = await streamed(path, body);
        expect([path, at, text]).toEqual([path, at, expect.stringContaining("Grüße ")]);
        expect(text).toContain("😀.");
        expect(text).toContain(end);
      }
  });

  test("is an answer for the SDKs of OpenAI and Anthropic, with token counts", async () => {
    stream([WHOLE]);
    const chunks = await openaiClient(gateway.url).chat.completions.create({
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "hi" }],
    });
    let said = "";
    let total: number | undefined;
    for await (const chunk of chunks) {
      said += chunk.choices[0]?.delta.content ?? "";
      total = chunk.usage?.total_tokens ?? total;
    }
    expect([said, total]).toEqual(["Grüße 😀.", 19]);
    stream([WHOLE]);
    const request = { model: MODEL, max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };
    const message = await anthropicClient(gateway.url).messages.stream(request).finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: "Grüße 😀." }]);
    expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 7 });
  });

  test("is requested at an address with the encoded model, and its body names neither model nor stream", async () => {
    const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-x-v1:0";
    stream([WHOLE]);
    await (await post(CLIENTS[0]!.path, CLIENTS[0]!.body, `converser/${arn}`)).text();
    const { path, body } = upstream.requests.at(-1)!;
    expect(path).toBe(
      "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-x-v1%3A0/converse-stream",
    );
    expect(Object.keys(JSON.parse(body.toString()) as object)).not.toContainAnyValues(["model", "stream"]);
  });

  test("is complete without token counts, which weir then estimates", async () => {
    for (const { path, body, end } of CLIENTS) {
      stream([awsStream([...BEGIN, ...STOP])]);
      const text = await streamed(path, body);
      expect([path, text]).toEqual([path, expect.stringContaining(end)]);
    }
  });
});

test("a host that only the config describes is reached in the same way", async () => {
  stream([WHOLE]);
  const response = await post(CLIENTS[0]!.path, CLIENTS[0]!.body, "plain/m");
  expect(await response.text()).toContain("Grüße ");
  const { path, headers } = upstream.requests.at(-1)!;
  expect([path, headers.get("authorization")]).toEqual([
    "/model/m/converse-stream",
    "Bearer key-0123456789ab",
  ]);
});

test("a JSON answer is requested at the other address", async () => {
  const message = { role: "assistant", content: [{ text: "Hello." }] };
  upstream.answer(() =>
    json({ output: { message }, stopReason: "end_turn", usage: { inputTokens: 3, outputTokens: 2 } }),
  );
  const answer = await openaiClient(gateway.url).chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: "hi" }],
  });
  expect([answer.choices[0]!.message.content, answer.usage?.total_tokens]).toEqual(["Hello.", 5]);
  expect(upstream.requests.at(-1)!.path).toEndWith("/converse");
});

test("signed reasoning of Claude goes back as it came, also for a client that cannot hold it", async () => {
  const reasoning = { text: " I need the weather. ", signature: "RXBzaWduZWQ=" };
  const content = [
    { reasoningContent: { reasoningText: reasoning } },
    { toolUse: { toolUseId: "tooluse_1", name: "weather", input: { city: "Bonn" } } },
  ];
  const answer = () => json({ output: { message: { role: "assistant", content } }, stopReason: "tool_use" });
  const sentBack = () =>
    (JSON.parse(upstream.requests.at(-1)!.body.toString()) as { messages: { content: object[] }[] })
      .messages[1]!.content;

  upstream.answer(answer);
  const claude = anthropicClient(gateway.url);
  const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
  const ask = {
    model: MODEL,
    max_tokens: 4000,
    thinking: { type: "enabled" as const, budget_tokens: 2000 },
    tools,
  };
  const question = { role: "user" as const, content: "Will it rain in Bonn?" };
  const first = await claude.messages.create({ ...ask, messages: [question] });
  const result = { type: "tool_result" as const, tool_use_id: "tooluse_1", content: "No." };
  await claude.messages.create({
    ...ask,
    messages: [question, { role: "assistant", content: first.content }, { role: "user", content: [result] }],
  });
  expect(sentBack()).toEqual(content);

  const openai = openaiClient(gateway.url);
  const functions = [
    { type: "function" as const, function: { name: "weather", parameters: { type: "object" } } },
  ];
  const plain = { model: MODEL, reasoning_effort: "low" as const, tools: functions };
  const { message } = (await openai.chat.completions.create({ ...plain, messages: [question] })).choices[0]!;
  const kept = { role: "assistant" as const, content: null, tool_calls: message.tool_calls };
  await openai.chat.completions.create({
    ...plain,
    messages: [question, kept, { role: "tool", tool_call_id: "tooluse_1", content: "No." }],
  });
  expect(sentBack()).toEqual(content);
});

describe("a stream that fails (synthetic)", () => {
  test.each([
    ["an exception", THROTTLED, 429],
    ["an error", BROKEN, 502],
  ])("%s before the first event is an error with its status", async (_what, failure, status) => {
    for (const { path, body } of CLIENTS) {
      stream([awsStream([failure])]);
      const response = await post(path, body);
      expect([path, response.status]).toEqual([path, status]);
      expect(await response.text()).toContain((JSON.parse(failure.data) as { message: string }).message);
    }
  });

  test.each([
    ["an exception", THROTTLED],
    ["an error", BROKEN],
  ])("%s behind content is an error of the stream, and no terminator follows", async (_what, failure) => {
    for (const { path, body, end } of CLIENTS) {
      stream([awsStream([...BEGIN, failure])]);
      const text = await streamed(path, body);
      expect([path, text]).toEqual([
        path,
        expect.stringContaining((JSON.parse(failure.data) as { message: string }).message),
      ]);
      expect(text).not.toContain(end);
    }
  });

  const cuts: [string, Buffer][] = [
    ["inside a message", WHOLE.subarray(0, WHOLE.length - awsStream([METADATA]).length - 9)],
    ["between two messages, before the stop reason", awsStream(BEGIN)],
    ["between two messages, before the content", awsStream(BEGIN.slice(0, 1))],
  ];
  test.each(cuts)("a body that ends %s is an error for every client", async (_where, bytes) => {
    for (const { path, body, end } of CLIENTS) {
      stream([bytes]);
      const text = await streamed(path, body);
      expect([path, text]).toEqual([path, expect.stringContaining("ended before the answer was complete")]);
      expect(text).not.toContain(end);
    }
  });

  test("a body with a changed byte is an error for every client", async () => {
    const bytes = Buffer.from(awsStream([...BEGIN, ...STOP, METADATA]));
    bytes[awsStream(BEGIN.slice(0, 3)).length + 150]! ^= 1;
    for (const { path, body, end } of CLIENTS) {
      stream([bytes]);
      const text = await streamed(path, body);
      expect([path, text]).toEqual([path, expect.stringContaining("checksum")]);
      expect(text).not.toContain(end);
    }
  });

  test("JSON instead of a stream is an error with the provider's sentence", async () => {
    for (const { path, body } of CLIENTS) {
      upstream.answer(() => json({ message: "The model is busy." }));
      const response = await post(path, body);
      expect([path, response.status]).toEqual([path, 502]);
      expect(await response.text()).toContain("The model is busy.");
    }
  });
});

describe("the AWS SDK", () => {
  async function read(bytes: Uint8Array): Promise<string> {
    stream([bytes]);
    const client = bedrockClient(upstream.url);
    try {
      const { stream: events } = await client.send(new ConverseStreamCommand({ modelId: "m", messages: [] }));
      let text = "";
      for await (const { contentBlockDelta } of events!) text += contentBlockDelta?.delta?.text ?? "";
      return text;
    } catch (error) {
      return `failed: ${(error as Error).name}`;
    } finally {
      client.destroy();
    }
  }

  test("reads the same text, and fails where weir fails, except at the border of a message", async () => {
    expect(await read(WHOLE)).toBe("Grüße 😀.");
    expect(await read(awsStream([...BEGIN, THROTTLED]))).toStartWith("failed: Throttling");
    expect(await read(awsStream([...BEGIN, BROKEN]))).toStartWith("failed:");
    expect(await read(WHOLE.subarray(0, WHOLE.length - 9))).toStartWith("failed:");
    expect(await read(awsStream(BEGIN))).toBe("Grüße 😀.");
  });
});
