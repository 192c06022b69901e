/** The translated lane over real sockets: what the gateway adds around the codecs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let openai: OpenAI;

const HOOKED = `import { definePlugin } from "weir";
export default definePlugin({ name: "hooked", hooks: { request(request) { if (request.model === "claude-hooked") request.temperature = 0.25; } } });`;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
  openai = openaiClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const answer = (content: unknown[], stop = "end_turn") =>
  json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: {
      input_tokens: 9,
      cache_creation_input_tokens: 4425,
      cache_read_input_tokens: 317,
      output_tokens: 16,
    },
  });

const bodyOf = (request: UpstreamRequest) =>
  JSON.parse(Buffer.from(request.body).toString()) as {
    messages: { role: string; content: { type: string }[] }[];
    temperature?: number;
  };

const tool: OpenAI.ChatCompletionTool = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} } },
};
const model = "claude-opus-4-6";

/** One turn with a tool call and its signed reasoning, as a client that strips reasoning sends it back. */
async function callAndReplay(id: string) {
  upstream.answer(() =>
    answer(
      [
        { type: "thinking", thinking: "because", signature: "SIG-1" },
        { type: "tool_use", id, name: "f", input: {} },
      ],
      "tool_use",
    ),
  );
  const first = await openai.chat.completions.create({
    model,
    messages: [{ role: "user", content: "go" }],
    tools: [tool],
    reasoning_effort: "high",
  });
  const calls = first.choices[0]!.message.tool_calls!;
  return () =>
    openai.chat.completions.create({
      model,
      tools: [tool],
      reasoning_effort: "high",
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: calls },
        { role: "tool", tool_call_id: calls[0]!.id, content: "done" },
      ],
    });
}

test("signed reasoning a client stripped goes back to the upstream byte for byte", async () => {
  const replay = await callAndReplay("toolu_kept");
  upstream.answer(() => answer([{ type: "text", text: "ok" }]));
  await replay();
  const assistant = bodyOf(upstream.requests.at(-1)!).messages.find(
    (message) => message.role === "assistant",
  );
  expect(assistant?.content[0]).toMatchObject({ type: "thinking", thinking: "because", signature: "SIG-1" });
});

test("a refused signature is tried once more without reasoning, and the client is told", async () => {
  const replay = await callAndReplay("toolu_refused");
  const before = upstream.requests.length;
  upstream.answer((request) =>
    bodyOf(request).messages.some(
      (message) =>
        Array.isArray(message.content) && message.content.some((block) => block.type === "thinking"),
    )
      ? json(
          {
            type: "error",
            error: {
              type: "invalid_request_error",
              message: "messages.1.content.0: Invalid `signature` in `thinking` block",
            },
          },
          400,
        )
      : answer([{ type: "text", text: "ok" }]),
  );
  const { data, response } = await replay().withResponse();
  expect(data.choices[0]!.message.content).toBe("ok");
  expect(upstream.requests.length - before).toBe(2);
  expect(response.headers.get("x-weir-warnings")).toContain("dropped:reasoning");
});

test("any other 400 is not tried again", async () => {
  const replay = await callAndReplay("toolu_other");
  const before = upstream.requests.length;
  upstream.answer(() =>
    json({ type: "error", error: { type: "invalid_request_error", message: "max_tokens: too large" } }, 400),
  );
  expect(await replay().catch((error: unknown) => error)).toBeInstanceOf(OpenAI.BadRequestError);
  expect(upstream.requests.length - before).toBe(1);
});

test("usage in disjoint buckets arrives as the vendor's example says", async () => {
  upstream.answer(() => answer([{ type: "text", text: "ok" }]));
  const { usage } = await openai.chat.completions.create({
    model,
    messages: [{ role: "user", content: "go" }],
  });
  expect(usage).toMatchObject({
    prompt_tokens: 4751,
    completion_tokens: 16,
    total_tokens: 4767,
    prompt_tokens_details: { cached_tokens: 317 },
  });
});

test("a call that a hook takes off the native lane keeps the client's own headers", async () => {
  const config = upstreamConfig({ anthropic: upstream.url });
  const hooked = await startGateway({ config, plugins: { "hooked.ts": HOOKED } });
  upstream.answer(() => answer([{ type: "text", text: "ok" }]));
  const response = await fetch(`${hooked.url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-beta": "some-beta-2026",
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify({
      model: "claude-hooked",
      max_tokens: 9,
      messages: [{ role: "user", content: "go" }],
    }),
  });
  await hooked.stop();
  expect(response.status).toBe(200);
  const request = upstream.requests.at(-1)!;
  expect(new Headers(request.headers as HeadersInit).get("anthropic-beta")).toBe("some-beta-2026");
});
