/** A weir as provider of another: what the client sees of a call that passes both. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { ask, STREAM } from "../helpers/places.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;
let inner: RunningGateway;
let outer: RunningGateway;

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const KEY = "sk-of-the-inner-weir-5b1c";

beforeAll(async () => {
  upstream = startUpstream(json(MESSAGE));
  const config = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
  inner = await startGateway({ config: { ...config, keys: [{ name: "outer", key: KEY }] } });
  outer = await startGateway({ env: { WEIR_BASE_URL: `${inner.url}/v1`, WEIR_API_KEY: KEY } });
});

afterAll(async () => {
  await outer.stop();
  await inner.stop();
  upstream.stop();
});

const CLAUDE = { model: "weir/claude-opus-4-6", seed: 7 };

test("each format passes natively, and only the inner weir translates", async () => {
  const bodies: Record<string, object> = {
    "/v1/chat/completions": { ...CLAUDE, messages: [{ role: "user", content: "hi" }] },
    "/v1/messages": { model: CLAUDE.model, max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
    "/v1/responses": { model: CLAUDE.model, input: "hi" },
    [`/v1beta/models/${CLAUDE.model}:generateContent`]: {
      model: undefined,
      messages: undefined,
      max_tokens: undefined,
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
    },
  };
  for (const [path, body] of Object.entries(bodies)) {
    upstream.answer(() => json(MESSAGE));
    const { status, text, headers } = await ask(outer, { path, body });
    expect([path, status, headers.get("x-weir-provider"), headers.get("x-weir-lane")]).toEqual([
      path,
      200,
      "weir",
      "native",
    ]);
    expect(text).toContain("hello");
  }
});

test("a loss of the inner weir is a loss of the call, in the header and in strict mode", async () => {
  upstream.answer(() => json(MESSAGE));
  const body = { ...CLAUDE, messages: [{ role: "user", content: "hi" }] };
  const { headers } = await ask(outer, { body });
  expect(headers.get("x-weir-warnings")).toBe("dropped:seed");
  const strict = await ask(outer, { body, headers: { "x-weir-strict": "true" } });
  expect([strict.status, strict.text]).toEqual([400, expect.stringContaining("dropped:seed")]);
});

test("a stream passes byte for byte, and an error with the inner weir's sentence", async () => {
  upstream.answer(() => sse(STREAM));
  const streamed = await ask(outer, { body: { model: "weir/gpt-4.1", stream: true } });
  expect(streamed.text).toBe(STREAM.join(""));
  const unknown = await ask(outer, { body: { model: "weir/no-such-model" } });
  expect(unknown.status).toBe(404);
  expect(unknown.text).toContain("no-such-model");
});
