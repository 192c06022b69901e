/** Answers that break: whatever is cut, and wherever, the client never takes it for finished. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, collect, openaiClient, see } from "../helpers/sdk.ts";
import { cut, html, json, redirect, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { streamedText } from "../helpers/streamed.ts";

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
const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });

const CHAT = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "It is" }),
  chunk({ content: " ünï🙂" }),
  chunk(call(0, { id: "call_a", type: "function", function: { name: "f", arguments: "" } })),
  chunk(call(0, { function: { arguments: '{"x":' } })),
  chunk(call(0, { function: { arguments: "1}" } })),
  chunk({}, "tool_calls"),
  "data: [DONE]\n\n",
];

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const usage = { input_tokens: 5, output_tokens: 1 };

const MESSAGES = [
  event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "It is ünï🙂" } }),
  event("content_block_stop", { index: 0 }),
  event("content_block_start", {
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "f", input: {} },
  }),
  event("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json: '{"x":1}' } }),
  event("content_block_stop", { index: 1 }),
  event("message_delta", {
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 9 },
  }),
  event("message_stop"),
];

interface Lane {
  name: string;
  stream: readonly string[];
  path: "/v1/chat/completions" | "/v1/messages";
  model: string;
  /** From this event on the answer is whole, although its terminator has not come. */
  wholeFrom: number;
}

const LANES: readonly Lane[] = [
  { name: "chat, native", stream: CHAT, path: "/v1/chat/completions", model: "openai/m", wholeFrom: 7 },
  { name: "messages, native", stream: MESSAGES, path: "/v1/messages", model: "anthropic/m", wholeFrom: 9 },
  {
    name: "chat client, messages upstream",
    stream: MESSAGES,
    path: "/v1/chat/completions",
    model: "anthropic/m",
    wholeFrom: 8,
  },
  {
    name: "messages client, chat upstream",
    stream: CHAT,
    path: "/v1/messages",
    model: "openai/m",
    wholeFrom: 7,
  },
];

const tools = {
  "/v1/chat/completions": [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
  "/v1/messages": [{ name: "f", input_schema: { type: "object" } }],
};

const bodyOf = ({ path, model }: Lane) => ({
  model,
  max_tokens: 99,
  stream: true as const,
  messages: [{ role: "user" as const, content: "go" }],
  tools: tools[path],
});

async function ask(lane: Lane): Promise<{ status: number; text: string }> {
  const response = await fetch(gateway.url + lane.path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyOf(lane)),
  });
  return { status: response.status, text: await streamedText(response) };
}

/** Whether the vendor's own SDK raised an error on the stream. */
async function sdkRaises(lane: Lane): Promise<boolean> {
  const body = bodyOf(lane);
  const seen =
    lane.path === "/v1/messages"
      ? await see(async () =>
          collect(
            await anthropicClient(gateway.url).messages.create(
              body as Anthropic.MessageCreateParamsStreaming,
            ),
          ),
        )
      : await see(async () =>
          collect(
            await openaiClient(gateway.url).chat.completions.create(
              body as OpenAI.ChatCompletionCreateParamsStreaming,
            ),
          ),
        );
  return "error" in seen;
}

function expectBroken(lane: Lane, { status, text }: { status: number; text: string }): void {
  expect(text).not.toContain("data: [DONE]");
  expect(text).not.toContain("message_stop");
  for (const key of Object.values(UPSTREAM_KEYS)) expect(text).not.toContain(key);
  expect(text).not.toContain(String(upstream.port));
  if (status !== 200) return expect(status).toBe(502);
  const errors =
    lane.path === "/v1/messages"
      ? /^event: error\ndata: \{"type":"error","error":\{/gm
      : /^data: \{"error":\{/gm;
  expect(text.match(errors)?.length).toBe(1);
  // With a comment after the event weir finds out that the client's socket has accepted it.
  const events = text.split("\n\n").filter((event) => event !== "" && event !== ":");
  expect(events.at(-1)).toMatch(new RegExp(errors.source, "m"));
}

for (const lane of LANES) {
  describe(lane.name, () => {
    for (const ending of ["fin", "rst"] as const) {
      test(`cut at every event by ${ending}`, async () => {
        for (let count = 0; count < lane.wholeFrom; count++) {
          upstream.answer(() => cut(lane.stream.slice(0, count), ending));
          expectBroken(lane, await ask(lane));
          expect(await sdkRaises(lane)).toBe(true);
        }
      });

      test(`cut inside of events by ${ending}`, async () => {
        const bytes = Buffer.from(lane.stream.join(""));
        const whole = Buffer.byteLength(lane.stream.slice(0, lane.wholeFrom).join(""));
        for (let at = 1; at < whole - 2; at += 37) {
          upstream.answer(() => cut([bytes.subarray(0, at)], ending));
          expectBroken(lane, await ask(lane));
        }
      });
    }

    test("cut behind the end it is whole, and whole as it stands", async () => {
      for (const pieces of [lane.stream, lane.stream.slice(0, lane.wholeFrom)]) {
        upstream.answer(() => cut([...pieces], "fin"));
        const { status, text } = await ask(lane);
        expect(status).toBe(200);
        expect(text).not.toContain("error");
        expect(await sdkRaises(lane)).toBe(false);
      }
    });

    test("garbage in the middle is told as an error, and nothing crashes", async () => {
      const garbage = `${lane.stream === CHAT ? "" : "event: content_block_delta\n"}data: {not json\n\n`;
      upstream.answer(() => sse([...lane.stream.slice(0, 3), garbage, ...lane.stream.slice(3)]));
      const raised = await sdkRaises(lane);
      expect(raised).toBe(true);
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    });

    test("an error in mid-stream stays one, also with a terminator behind it", async () => {
      const error =
        lane.stream === CHAT
          ? 'data: {"error":{"message":"gone wrong","type":"server_error","code":null}}\n\n'
          : event("error", { error: { type: "overloaded_error", message: "Overloaded" } });
      upstream.answer(() => sse([...lane.stream.slice(0, 3), error, lane.stream.at(-1)!]));
      expect(await sdkRaises(lane)).toBe(true);
    });

    test("an error that comes first keeps a real status", async () => {
      const error =
        lane.stream === CHAT
          ? 'data: {"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}\n\n'
          : event("error", { error: { type: "rate_limit_error", message: "slow down" } });
      upstream.answer(() => sse([error]));
      const { status, text } = await ask(lane);
      expect([status, text]).toEqual([429, expect.stringContaining("slow down")]);
    });

    test("200 with HTML, with an error as JSON, and with nothing, is 502", async () => {
      const answers = [
        html(200),
        json({ error: { message: "no", type: "server_error" } }),
        { status: 200, headers: { "content-type": "application/json" }, body: "" },
      ];
      for (const answer of answers) {
        upstream.answer(() => answer);
        const { status, text } = await ask(lane);
        expect(status).toBe(502);
        expect(text).not.toContain("<h1>");
      }
    });

    test("a refused credential of the gateway is 502 and names nobody's key", async () => {
      for (const status of [401, 403]) {
        upstream.answer(() =>
          json({ error: { message: `bad key ${UPSTREAM_KEYS.openai}`, type: "x" } }, status),
        );
        const answer = await ask(lane);
        expect(answer.status).toBe(502);
        expect(answer.text).not.toContain("canary");
      }
    });

    test("a redirect is 502 and is not followed", async () => {
      const trap = startUpstream(json({ seen: true }));
      for (const status of [301, 302, 307, 308]) {
        upstream.answer(() => redirect(status, `${trap.url}/v1/x`));
        expect((await ask(lane)).status).toBe(502);
      }
      expect(trap.requests.length).toBe(0);
      trap.stop();
    });

    test("nobody there is 502", async () => {
      const config = upstreamConfig({ openai: "http://127.0.0.1:9", anthropic: "http://127.0.0.1:9" });
      const lonely = await startGateway({ config });
      const response = await fetch(lonely.url + lane.path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(bodyOf(lane)),
      });
      const text = await response.text();
      await lonely.stop();
      expect([response.status, text]).toEqual([502, expect.stringContaining("refused the connection")]);
      expect(text).not.toContain("127.0.0.1");
    });
  });
}
