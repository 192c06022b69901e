/** What stands above the SDKs: the loop that calls tools by itself, and a library with a parser of its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { chunk } from "../helpers/places.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import {
  type Answer,
  json,
  sse,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
  openai = openaiClient(gateway.url);
  anthropic = anthropicClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

interface ChatBody {
  stream?: boolean;
  messages: { role: string; content: string }[];
}

/** Calls `add` first, and says what it returned when that is there. */
function chatUpstream({ body }: UpstreamRequest): Answer {
  const { stream, messages } = JSON.parse(body.toString()) as ChatBody;
  const result = messages.find(({ role }) => role === "tool");
  const call = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":2,"b":3}' } };
  const message = result ? { content: `It is ${result.content}.` } : { tool_calls: [{ index: 0, ...call }] };
  const finish = result ? "stop" : "tool_calls";
  if (stream) return sse([chunk({ role: "assistant", ...message }), chunk({}, finish), "data: [DONE]\n\n"]);
  const choice = {
    index: 0,
    message: { role: "assistant", content: null, ...message },
    finish_reason: finish,
  };
  return json({ id: "c1", object: "chat.completion", created: 1, model: "m", choices: [choice] });
}

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: "m1", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };

/** The same in the other language. */
function messagesUpstream({ body }: UpstreamRequest): Answer {
  const { stream, messages } = JSON.parse(body.toString()) as {
    stream?: boolean;
    messages: { content: string | { type: string; content?: unknown }[] }[];
  };
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const result = blocks.find(({ type }) => type === "tool_result");
  const text = `It is ${/\d+/.exec(JSON.stringify(result?.content ?? ""))?.[0]}.`;
  const input = { a: 2, b: 3 };
  const tool = { type: "tool_use", id: "toolu_1", name: "add" };
  const reason = result ? "end_turn" : "tool_use";
  if (!stream)
    return json({
      ...message,
      content: [result ? { type: "text", text } : { ...tool, input }],
      stop_reason: reason,
    });
  return sse([
    event("message_start", { message: { ...message, content: [], stop_reason: null } }),
    event("content_block_start", {
      index: 0,
      content_block: result ? { type: "text", text: "" } : { ...tool, input: {} },
    }),
    event("content_block_delta", {
      index: 0,
      delta: result
        ? { type: "text_delta", text }
        : { type: "input_json_delta", partial_json: JSON.stringify(input) },
    }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage }),
    event("message_stop"),
  ]);
}

describe("the SDK's own loop over tools takes both its steps", () => {
  const upstreams: Record<string, { model: string; answer: (request: UpstreamRequest) => Answer }> = {
    gpt: { model: "openai/gpt-5.4", answer: chatUpstream },
    claude: { model: "anthropic/claude-opus-4-6", answer: messagesUpstream },
  };
  for (const [name, { model, answer }] of Object.entries(upstreams))
    for (const stream of [false, true] as const)
      test(`${name}${stream ? ", streamed" : ""}`, async () => {
        upstream.answer(answer);
        const asked: unknown[] = [];
        const add = (numbers: { a: number; b: number }) => {
          asked.push(numbers);
          return String(numbers.a + numbers.b);
        };
        const params = {
          model,
          messages: [{ role: "user" as const, content: "What is 2 + 3?" }],
          tools: [
            {
              type: "function" as const,
              function: {
                name: "add",
                description: "Adds.",
                parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
                parse: JSON.parse as (text: string) => { a: number; b: number },
                function: add,
              },
            },
          ],
        };
        const runner = stream
          ? openai.chat.completions.runTools({ ...params, stream: true })
          : openai.chat.completions.runTools(params);
        expect(await runner.finalContent()).toBe("It is 5.");
        expect(asked).toEqual([{ a: 2, b: 3 }]);
      });
});

describe("Anthropic's tool runner takes both its steps", () => {
  const upstreams: Record<string, { model: string; answer: (request: UpstreamRequest) => Answer }> = {
    gpt: { model: "openai/gpt-5.4", answer: chatUpstream },
    claude: { model: "anthropic/claude-opus-4-6", answer: messagesUpstream },
  };
  for (const [name, { model, answer }] of Object.entries(upstreams))
    for (const stream of [false, true])
      test(`${name}${stream ? ", streamed" : ""}`, async () => {
        upstream.answer(answer);
        const before = upstream.requests.length;
        const asked: unknown[] = [];
        const add = {
          type: "custom" as const,
          name: "add",
          description: "Adds.",
          input_schema: {
            type: "object" as const,
            properties: { a: { type: "number" }, b: { type: "number" } },
          },
          parse: (input: unknown) => input as { a: number; b: number },
          run: (numbers: { a: number; b: number }) => {
            asked.push(numbers);
            return String(numbers.a + numbers.b);
          },
        };
        const runner = anthropic.beta.messages.toolRunner({
          model,
          max_tokens: 500,
          messages: [{ role: "user", content: "What is 2 + 3?" }],
          tools: [add],
          stream,
        });
        const { content } = await runner.runUntilDone();
        expect(content).toMatchObject([{ type: "text", text: "It is 5." }]);
        expect(asked).toEqual([{ a: 2, b: 3 }]);
        const sent = upstream.requests.slice(before).map(({ body }) => body.toString());
        expect(sent).toHaveLength(2);
        // A messages upstream is asked for a thread; another never hears of one, and gets the whole conversation.
        for (const body of sent) expect(body.includes('"thread"')).toBe(name === "claude");
        if (name === "gpt") expect(sent[1]).toContain("What is 2 + 3?");
      });
});

test("a thread is refused in the words the SDK goes on without one for, and only where there are none", async () => {
  upstream.answer(messagesUpstream);
  const ask = async (model: string, thread: object) => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }], thread }),
    });
    return { status: response.status, body: (await response.json()) as { error?: object } };
  };
  for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
    expect((await ask("anthropic/m", thread)).status).toBe(200);
    for (const model of ["openai/m", "mock/echo"]) {
      const { status, body } = await ask(model, thread);
      expect([model, status]).toEqual([model, 400]);
      expect(body.error).toMatchObject({
        type: "invalid_request_error",
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      });
    }
  }
});

describe("the AI SDK reads the stream without an error part", () => {
  const toolCall = (index: number, id: string) =>
    chunk({ tool_calls: [{ index, id, type: "function", function: { name: "f", arguments: '{"n":1}' } }] });
  const signed = (index: number, text: string, signature: string) => [
    event("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } }),
    event("content_block_delta", { index, delta: { type: "thinking_delta", thinking: text } }),
    event("content_block_delta", { index, delta: { type: "signature_delta", signature } }),
    event("content_block_stop", { index }),
  ];
  const said = (index: number, text: string) => [
    event("content_block_start", { index, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index, delta: { type: "text_delta", text } }),
    event("content_block_stop", { index }),
  ];
  const called = (index: number, id: string) => [
    event("content_block_start", { index, content_block: { type: "tool_use", id, name: "f", input: {} } }),
    event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: '{"n":1}' } }),
    event("content_block_stop", { index }),
  ];
  const lanes: Record<string, { model: string; pieces: string[] }> = {
    translated: {
      model: "openai/m",
      pieces: [
        chunk({ role: "assistant", reasoning_content: "one" }),
        chunk({ content: "two" }),
        chunk({ reasoning_content: "three" }),
        toolCall(0, "call_1"),
        chunk({ content: "five" }),
        toolCall(1, "call_2"),
        chunk({}, "tool_calls"),
        "data: [DONE]\n\n",
      ],
    },
    native: {
      model: "anthropic/claude-opus-4-6",
      pieces: [
        event("message_start", { message: { ...message, content: [], stop_reason: null } }),
        event("ping"),
        ...signed(0, "one", "SIG-1"),
        ...said(1, "two"),
        ...signed(2, "three", "SIG-2"),
        ...called(3, "toolu_1"),
        ...said(4, "five"),
        ...called(5, "toolu_2"),
        event("message_delta", { delta: { stop_reason: "tool_use", stop_sequence: null }, usage }),
        event("message_stop"),
      ],
    },
  };
  for (const [lane, { model, pieces }] of Object.entries(lanes))
    test(lane, async () => {
      upstream.answer(() => sse(pieces));
      const anthropic = createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: "none-needed" });
      const { stream } = await anthropic(model).doStream({
        prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }],
        tools: [{ type: "function", name: "f", inputSchema: { type: "object", properties: {} } }],
      });
      const parts = await Array.fromAsync(stream);
      expect(parts.filter(({ type }) => type === "error")).toEqual([]);
      const seen = parts.flatMap((part) => {
        if (part.type === "reasoning-delta" || part.type === "text-delta")
          return part.delta ? [part.delta] : [];
        if (part.type === "tool-call") return [`${part.toolName} ${part.input}`];
        return part.type === "finish" ? [part.finishReason.unified] : [];
      });
      expect(seen).toEqual(["one", "two", "three", 'f {"n":1}', "five", 'f {"n":1}', "tool-calls"]);
    });

  for (const [lane, { model, pieces }] of Object.entries(lanes))
    test(`@ai-sdk/google, ${lane === "native" ? "at a messages provider" : lane}`, async () => {
      upstream.answer(() => sse(pieces));
      const google = createGoogleGenerativeAI({ baseURL: `${gateway.url}/v1beta`, apiKey: "none-needed" });
      const { stream } = await google(model).doStream({
        prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }],
        tools: [{ type: "function", name: "f", inputSchema: { type: "object", properties: {} } }],
        providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
      });
      const parts = await Array.fromAsync(stream);
      expect(parts.filter(({ type }) => type === "error")).toEqual([]);
      const seen = parts.flatMap((part) => {
        if (part.type === "reasoning-delta" || part.type === "text-delta")
          return part.delta ? [part.delta] : [];
        if (part.type === "tool-call") return [`${part.toolName} ${part.input}`];
        return part.type === "finish" ? [part.finishReason.unified] : [];
      });
      expect(seen).toEqual(["one", "two", "three", 'f {"n":1}', "five", 'f {"n":1}', "tool-calls"]);
    });
});
