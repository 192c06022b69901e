/** Requests of real clients (Claude Code, Codex, pi, opencode, qwen, Copilot) in their own lane and in the other one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Capture, captures, haveCaptures, NO_CAPTURES } from "../helpers/captures.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { streamedText } from "../helpers/streamed.ts";

if (!haveCaptures) console.log(NO_CAPTURES);

const CLAUDE_CODE = captures("/v1/messages", /^claude/);
const OTHERS_MESSAGES = captures("/v1/messages", /^(?!claude)/);
const CHAT_CLIENTS = captures("/chat/completions", /./);

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const called = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

/** What a chat-completions upstream says. */
const CHAT_ANSWERS: Record<string, string[]> = {
  text: [chunk({ role: "assistant", content: "hi" }), chunk({}, "stop"), "data: [DONE]\n\n"],
  "two parallel tools": [
    chunk({ role: "assistant", content: null }),
    chunk(called(0, { id: "call_a", type: "function", function: { name: "Bash", arguments: '{"x":' } })),
    chunk(called(1, { id: "call_b", type: "function", function: { name: "Read", arguments: "{}" } })),
    chunk(called(0, { function: { arguments: "1}" } })),
    chunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ],
  overloaded: [
    chunk({ role: "assistant", content: "hi" }),
    'data: {"error":{"message":"Overloaded","type":"server_error","code":"server_is_overloaded"}}\n\n',
  ],
};

const start = event("message_start", {
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
});
const tool = (index: number, id: string, name: string, input: string) => [
  event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
  event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: input } }),
  event("content_block_stop", { index }),
];
const end = (reason: string) => [
  event("message_delta", {
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 1 },
  }),
  event("message_stop"),
];
const text = [
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "hi" } }),
];

const MESSAGES_ANSWERS: Record<string, string[]> = {
  text: [start, ...text, event("content_block_stop", { index: 0 }), ...end("end_turn")],
  "two parallel tools": [
    start,
    ...tool(0, "toolu_a", "Bash", '{"x":1}'),
    ...tool(1, "toolu_b", "Read", "{}"),
    ...end("tool_use"),
  ],
  overloaded: [
    start,
    ...text,
    event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  ],
};

async function send(
  capture: Capture,
  path: string,
  model: string,
): Promise<{ status: number; text: string; sent: string }> {
  const sent = JSON.stringify({ ...capture.body, model, stream: true });
  const forwarded = capture.headers.filter(([name]) => /^anthropic-|^x-claude|^x-stainless/i.test(name));
  const response = await fetch(`${gateway.url}${path}?beta=true`, {
    method: "POST",
    headers: [["content-type", "application/json"], ...forwarded],
    body: sent,
  });
  // An answer that failed in mid-stream does not end cleanly.
  return { status: response.status, text: await streamedText(response), sent };
}

const upstreamText = () => upstream.requests.at(-1)!.body.toString("utf8");

/** All texts of blocks or parts, wherever they nest. */
function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  const { type, text, ...rest } = value as Record<string, unknown>;
  const own = type === "text" && typeof text === "string" ? [text] : [];
  return [...own, ...Object.values(rest).flatMap(textsIn)];
}

/** A text as it stands inside JSON. */
const written = (value: string) => JSON.stringify(value).slice(1, -1);

/** Members only Anthropic knows (check 86). */
const ANTHROPIC_ONLY =
  /"(cache_control|defer_loading|eager_input_streaming|betas|context_management|input_schema|tool_use_id)"/;

describe.skipIf(!haveCaptures)("Claude Code and other messages clients", () => {
  const all = [...CLAUDE_CODE, ...OTHERS_MESSAGES];

  test("there are captures to replay", () => {
    expect(CLAUDE_CODE.length).toBeGreaterThan(15);
    expect(CHAT_CLIENTS.length).toBeGreaterThan(8);
  });

  for (const capture of all) {
    test(`${capture.name} is byte-identical at a messages upstream`, async () => {
      upstream.answer(() => sse(MESSAGES_ANSWERS["text"]!));
      const { status, text, sent } = await send(capture, "/v1/messages", "claude-opus-5-5");
      expect([status, text]).toEqual([200, MESSAGES_ANSWERS["text"]!.join("")]);
      expect(upstreamText()).toBe(sent);
      const beta = capture.headers.find(([name]) => name.toLowerCase() === "anthropic-beta")?.[1] ?? null;
      expect(upstream.requests.at(-1)!.headers.get("anthropic-beta")).toBe(beta);
    });

    test(`${capture.name} reaches a chat upstream with all its text and nothing foreign`, async () => {
      upstream.answer(() => sse(CHAT_ANSWERS["text"]!));
      const { status, text } = await send(capture, "/v1/messages", "openai/gpt-5.4");
      if ("thread" in capture.body) {
        // The SDK repeats these without a thread by itself.
        expect([status, text]).toEqual([400, expect.stringContaining('"thread_unsupported_request"')]);
        return;
      }
      expect(status).toBe(200);
      expect(text).toContain("event: message_stop");
      const body = upstreamText();
      expect(body).not.toMatch(ANTHROPIC_ONLY);
      expect(body).not.toContain("x-anthropic-billing-header");
      const { system, messages, tools } = capture.body as {
        system?: unknown;
        messages: { content: unknown }[];
        tools?: { name: string }[];
      };
      const texts = [system, ...messages.map((message) => message.content)].flatMap((part) =>
        typeof part === "string" ? [part] : textsIn(part),
      );
      for (const one of texts)
        if (one.trim() !== "" && !one.startsWith("x-anthropic-billing-header"))
          expect(body).toContain(written(one.trim()).slice(0, 400));
      // pictures and pages inside tool results are carried, not described.
      const given = JSON.stringify(messages);
      if (given.includes('"type":"image"')) expect(body).toContain('"type":"image_url"');
      if (given.includes('"type":"document"')) expect(body).toContain('"type":"file"');
      for (const { name } of tools ?? []) if (name) expect(body).toContain(`"${name}"`);
    });
  }

  for (const capture of CLAUDE_CODE.slice(0, 3)) {
    test(`${capture.name}: two parallel tools come back one after the other, from a chat upstream`, async () => {
      upstream.answer(() => sse(CHAT_ANSWERS["two parallel tools"]!));
      const { text } = await send(capture, "/v1/messages", "openai/gpt-5.4");
      const starts = [
        ...text.matchAll(/"content_block":\{"type":"tool_use","id":"(\w+)","name":"(\w+)"/g),
      ].map((match) => match[2]!);
      expect(starts).toEqual(["Bash", "Read"]);
      expect(text).toContain('"stop_reason":"tool_use"');
    });

    test(`${capture.name}: an overload in mid-stream is an error event and no ending`, async () => {
      upstream.answer(() => sse(CHAT_ANSWERS["overloaded"]!));
      const { text } = await send(capture, "/v1/messages", "openai/gpt-5.4");
      expect(text).toContain("event: error");
      expect(text).toContain("overloaded_error");
      expect(text).not.toContain("message_stop");
    });
  }
});

describe.skipIf(!haveCaptures)("chat clients at a messages upstream", () => {
  for (const capture of CHAT_CLIENTS) {
    test(`${capture.name} reaches it with all its text and tools`, async () => {
      upstream.answer(() => sse(MESSAGES_ANSWERS["text"]!));
      const { status, text } = await send(capture, "/v1/chat/completions", "claude-opus-4-6");
      expect([status, text]).toEqual([200, expect.stringContaining("data: [DONE]")]);
      const body = upstreamText();
      const { messages, tools } = capture.body as {
        messages: { content: unknown }[];
        tools?: { function?: { name: string } }[];
      };
      const texts = messages.flatMap(({ content }) =>
        typeof content === "string" ? [content] : textsIn(content),
      );
      for (const one of texts)
        if (one.trim() !== "") expect(body).toContain(written(one.trim()).slice(0, 400));
      for (const { function: declared } of tools ?? [])
        if (declared) expect(body).toContain(`"${declared.name}"`);
      expect(body).not.toMatch(/"text":"\s*"/);
    });

    test(`${capture.name}: two tools, and an overload in mid-stream`, async () => {
      upstream.answer(() => sse(MESSAGES_ANSWERS["two parallel tools"]!));
      const tools = (await send(capture, "/v1/chat/completions", "claude-opus-4-6")).text;
      expect([...tools.matchAll(/"index":(\d),"id":"toolu_/g)].map((match) => match[1]!)).toEqual(["0", "1"]);
      expect(tools).toContain('"finish_reason":"tool_calls"');
      upstream.answer(() => sse(MESSAGES_ANSWERS["overloaded"]!));
      const broken = (await send(capture, "/v1/chat/completions", "claude-opus-4-6")).text;
      expect(broken).toContain('data: {"error":{"message":"Overloaded"');
      expect(broken).not.toContain("[DONE]");
    });
  }
});
