/** Tools that a plugin runs inside of its answer, as the clients of each format get them. */
import { describe, expect, test } from "bun:test";
import type { Anthropic } from "@anthropic-ai/sdk";
import type { OpenAI } from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import type { RunningGateway } from "../helpers/gateway.ts";
import { judgeResponses } from "../helpers/judge-responses.ts";
import { haveDocument, judge, NO_DOCUMENT } from "../formats/chat-completions/openapi.ts";
import { answering, ask, makeStage } from "../helpers/places.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { until } from "../helpers/upstream.ts";

const { gateway, upstream } = makeStage();

const HOSTED = `
  { type: "block-start", index: 0, block: { type: "hosted-tool", kind: "list", id: "l1", server: "shop", name: "" } },
  { type: "block-end", index: 0, result: { tools: [{ name: "find", parameters: { type: "object" } }] } },
  { type: "block-start", index: 1, block: { type: "hosted-tool", kind: "call", id: "c1", server: "shop", name: "find" } },
  { type: "block-delta", index: 1, delta: '{"word":' },
  { type: "block-delta", index: 1, delta: '"tea"}' },
  { type: "block-run", index: 1 },
  { type: "block-end", index: 1, result: { output: "green tea" } },
  { type: "block-start", index: 2, block: { type: "hosted-tool", kind: "call", id: "c2", server: "shop", name: "buy", approval: "mcpr_w1_a0" } },
  { type: "block-end", index: 2, result: { error: "sold out" } },
  { type: "block-start", index: 3, block: { type: "text" } },
  { type: "block-delta", index: 3, delta: "No tea." },
  { type: "block-end", index: 3 },
  { type: "block-start", index: 4, block: { type: "hosted-tool", kind: "approval", id: "a1", server: "shop", name: "wait" } },
  { type: "block-delta", index: 4, delta: '{"days":2}' },
  { type: "block-end", index: 4 },`;

/** A gateway with a plugin that answers each call with these blocks. */
function hosting(blocks = HOSTED): Promise<RunningGateway> {
  const file = `import { definePlugin, NO_USAGE } from "weir";
export default definePlugin({ name: "hosting", hooks: { intercept: () => ({ answer: [
  { type: "message-start", id: "m", model: "m" },
  ${blocks}
  { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE, input: 3, output: 2, known: "final" } },
] }) } });`;
  return gateway({}, { plugins: { "hosting.js": file } });
}

const PARAMS = { model: "mock/chat", input: "Is there tea?" } as const;

const ITEMS = [
  {
    type: "mcp_list_tools",
    id: "mcpl_w1_l1",
    server_label: "shop",
    tools: [{ name: "find", description: null, input_schema: { type: "object" }, annotations: null }],
    error: null,
  },
  {
    type: "mcp_call",
    id: "mcp_w1_c1",
    status: "completed",
    approval_request_id: null,
    server_label: "shop",
    name: "find",
    arguments: '{"word":"tea"}',
    output: "green tea",
    error: null,
  },
  {
    type: "mcp_call",
    id: "mcp_w1_c2",
    status: "failed",
    approval_request_id: "mcpr_w1_a0",
    server_label: "shop",
    name: "buy",
    arguments: "{}",
    output: null,
    error: { type: "mcp_tool_execution_error", content: [{ type: "text", text: "sold out" }] },
  },
  expect.objectContaining({ type: "message" }),
  {
    type: "mcp_approval_request",
    id: "mcpr_w1_a1",
    server_label: "shop",
    name: "wait",
    arguments: '{"days":2}',
  },
];

describe("responses", () => {
  test("has items in the answer", async () => {
    const running = await hosting();
    const { output } = await openaiClient(running.url).responses.create(PARAMS);
    expect<unknown[]>(output).toEqual(ITEMS);
  });

  test("has the events of the items in the stream", async () => {
    const running = await hosting();
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await openaiClient(running.url).responses.create({ ...PARAMS, stream: true }))
      events.push(event);
    const of = (index: number) =>
      events.flatMap((event) =>
        "output_index" in event && event.output_index === index ? [event.type.replace("response.", "")] : [],
      );
    expect(of(0)).toEqual([
      "output_item.added",
      "mcp_list_tools.in_progress",
      "mcp_list_tools.completed",
      "output_item.done",
    ]);
    expect(of(1)).toEqual([
      "output_item.added",
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      "mcp_call.completed",
      "output_item.done",
    ]);
    expect(of(2)).toEqual([
      "output_item.added",
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      "mcp_call.failed",
      "output_item.done",
    ]);
    expect(of(4)).toEqual(["output_item.added", "output_item.done"]);
    const last = events.at(-1);
    expect<unknown>(last?.type === "response.completed" && last.response.output).toEqual(ITEMS);
  });

  test("streams them so that the SDK puts them together", async () => {
    const running = await hosting();
    const { output } = await openaiClient(running.url).responses.stream(PARAMS).finalResponse();
    expect<unknown>(output).toMatchObject(ITEMS);
  });

  test("keeps the life cycle of items in the stream", async () => {
    const running = await hosting();
    const { text } = await ask(running, {
      path: "/v1/responses",
      body: { ...PARAMS, messages: undefined, stream: true },
    });
    expect(judgeResponses(parseFrames(Buffer.from(text)), { isRelayed: true })).toEqual([]);
  });
});

/** `response.mcp_call.failed` is `ResponseMCPCallFailedEvent` in the document. */
function schemaOf({ type }: JsonObject): string {
  const words = String(type)
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `${words.join("").replace("Mcp", "MCP")}Event`;
}

if (!haveDocument) test.skip(NO_DOCUMENT, () => {});

test.if(haveDocument)("responses writes items and events as OpenAI's API document has them", async () => {
  const failing = HOSTED.replace("result: { tools: [", 'result: { error: "no list", tools: [');
  for (const blocks of [HOSTED, failing]) {
    const running = await hosting(blocks);
    const body = { ...PARAMS, messages: undefined };
    const whole = await ask(running, { path: "/v1/responses", body });
    const { output } = JSON.parse(whole.text) as { output: JsonObject[] };
    expect(output.map((item) => judge("OutputItem", item))).toEqual(output.map(() => []));
    const { text } = await ask(running, { path: "/v1/responses", body: { ...body, stream: true } });
    const events = parseFrames(Buffer.from(text)).map(({ data }) => JSON.parse(data) as JsonObject);
    const own = events.filter(({ type }) => String(type).startsWith("response.mcp_"));
    expect(own.length).toBe(11);
    for (const event of own)
      expect([event["type"], judge(schemaOf(event), event)]).toEqual([event["type"], []]);
  }
});

test("a stream that breaks while a tool runs does not say that the tool has ended", async () => {
  const [begun] = HOSTED.split('{ type: "block-end", index: 1');
  const running = await hosting(begun);
  const { text } = await ask(running, {
    path: "/v1/responses",
    body: { ...PARAMS, messages: undefined, stream: true },
  });
  expect(text).toContain("response.mcp_call_arguments.done");
  expect(text).not.toContain("response.mcp_call.completed");
  expect(text).not.toContain("response.completed");
});

test("responses reads its items back, and a provider of another format gets them as text", async () => {
  const { output } = await openaiClient((await hosting()).url).responses.create(PARAMS);
  const provider = upstream(answering);
  const running = await gateway({
    providers: {
      acme: {
        speaks: "chat-completions",
        baseUrl: `${provider.url}/v1`,
        apiKey: "k",
        models: ["acme-large"],
      },
    },
  });
  const { status, headers } = await ask(running, {
    path: "/v1/responses",
    body: {
      model: "acme-large",
      messages: undefined,
      input: [...JSON.parse(JSON.stringify(output)), { role: "user", content: "And?" }],
    },
  });
  const sent = String(provider.requests[0]?.body);
  expect(status).toBe(200);
  for (const text of [
    String.raw`[find: {\"word\":\"tea\"}]`,
    "[tool result: green tea]",
    "[buy: {}]",
    "[tool failed: ",
  ])
    expect(sent).toContain(text);
  expect(headers.get("x-weir-warnings")).toBe(
    "dropped:input[0], converted:input[1], converted:input[2], dropped:input[4], unknown:max_tokens",
  );
});

const CONTENT = [
  { type: "mcp_tool_use", id: "mcptoolu_c1", name: "find", server_name: "shop", input: { word: "tea" } },
  {
    type: "mcp_tool_result",
    tool_use_id: "mcptoolu_c1",
    is_error: false,
    content: [{ type: "text", text: "green tea" }],
  },
  { type: "mcp_tool_use", id: "mcptoolu_c2", name: "buy", server_name: "shop", input: {} },
  {
    type: "mcp_tool_result",
    tool_use_id: "mcptoolu_c2",
    is_error: true,
    content: [{ type: "text", text: "sold out" }],
  },
  { type: "text", text: "No tea." },
];

describe("messages", () => {
  const params: Anthropic.Beta.MessageCreateParamsNonStreaming = {
    model: "mock/chat",
    max_tokens: 50,
    messages: [{ role: "user", content: "Is there tea?" }],
  };

  test("has a block for the call and one for the result", async () => {
    const running = await hosting();
    const message = await anthropicClient(running.url).beta.messages.create(params);
    expect<unknown[]>(message.content).toEqual(CONTENT);
    expect(message.stop_reason).toBe("end_turn");
  });

  test("streams them so that the SDK puts them together", async () => {
    const running = await hosting();
    const message = await anthropicClient(running.url).beta.messages.stream(params).finalMessage();
    expect<unknown>(message.content).toMatchObject(CONTENT);
    expect(message.content.length).toBe(CONTENT.length);
  });

  test("has the list, for clients that know it", async () => {
    const running = await hosting();
    const { beta } = anthropicClient(running.url);
    const knowing = { ...params, betas: ["mcp-client-2026-09-15"] };
    const listing = {
      type: "mcp_tool_listing",
      mcp_server_name: "shop",
      tools: [{ name: "find", input_schema: { type: "object" } }],
    };
    const [whole] = (await beta.messages.create(knowing)).content;
    const [streamed] = (await beta.messages.stream(knowing).finalMessage()).content;
    expect<unknown[]>([whole, streamed]).toEqual([listing, listing]);
  });
});

const BODIES: Readonly<Record<string, JsonObject>> = {
  "/v1/chat/completions": {},
  "/v1beta/models/mock%2Fchat:generateContent": { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  "/api/chat": {},
};

describe("a format without tools of the server", () => {
  for (const [path, body] of Object.entries(BODIES))
    for (const stream of [false, true])
      test(`${path} leaves them out of ${stream ? "a stream" : "an answer"} and reports it`, async () => {
        const running = await hosting();
        const isGemini = path.startsWith("/v1beta");
        const { status, text } = await ask(running, {
          path: isGemini && stream ? path.replace("generate", "streamGenerate") : path,
          body: isGemini
            ? { ...body, messages: undefined, model: undefined }
            : { model: "mock/chat", stream, ...body },
        });
        expect([status, text.includes("No tea."), text.includes("green tea")]).toEqual([200, true, false]);
        const isReported = (line: string) =>
          line.includes('"outcome":"complete"') &&
          ["shop/find", "shop/buy", "shop/wait"].every((tool) => line.includes(tool));
        await until(
          () => running.log.some(isReported),
          5000,
          () => running.log.join("\n"),
        );
      });
});

describe("an answer that breaks the rules of hosted tools", () => {
  const start = (more: string) =>
    `{ type: "block-start", index: 0, block: { type: "hosted-tool", kind: "call", id: "c", server: "s", name: "n", ${more} } },`;
  const end = '{ type: "block-end", index: 0, result: { output: "" } },';
  const text = '{ type: "block-start", index: 0, block: { type: "text" } },';
  const cases = {
    "whose id is not 1 to 48 letters": start('id: "a b"') + end,
    "of an unknown kind": start('kind: "run"') + end,
    "ends a hosted tool without output or error": `${start("")}{ type: "block-end", index: 0 },`,
    "comes after the hosted tool began to run": `${start("")}{ type: "block-run", index: 0 },{ type: "block-delta", index: 0, delta: "{}" },${end}`,
    "is for no hosted tool": `${text}{ type: "block-run", index: 0 },{ type: "block-end", index: 0 },`,
    "has a result, but ends no call": text + end,
  };
  for (const [fault, blocks] of Object.entries(cases))
    test(`fails with the words: ${fault}`, async () => {
      const running = await hosting(blocks);
      const { status } = await ask(running, {
        path: "/v1/responses",
        body: { ...PARAMS, messages: undefined },
      });
      expect(status).toBe(500);
      await until(
        () => running.log.some((line) => line.includes(fault)),
        10_000,
        () => running.log.join("\n"),
      );
    });
});
