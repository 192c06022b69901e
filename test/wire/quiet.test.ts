/** Quiet upstreams: signs of life towards the client, an end to what is dead, and no sign of life inside an event. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatChunk, messagesEvent, messagesText } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, silence, sse, stalled, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { streamedText } from "../helpers/streamed.ts";

let gateway: RunningGateway;
let upstream: Upstream;

/** Everything a hundred times quicker than the defaults, so that the tests are quick too. */
const timeouts = { heartbeatMs: 300, holdMs: 300, firstByteMs: 3_000, gapMs: 2_000, totalMs: 20_000 };

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: { ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }), timeouts },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const CHAT = [
  chatChunk({ role: "assistant", content: "" }),
  chatChunk({ content: "hi" }),
  chatChunk({}, "stop"),
  "data: [DONE]\n\n",
];
const MESSAGES = messagesText("hi");

const ROUTES = [
  {
    path: "/v1/chat/completions",
    model: "openai/m",
    stream: CHAT,
    sign: ": keepalive\n\n",
    error: '"code":"timeout"',
  },
  {
    path: "/v1/messages",
    model: "anthropic/m",
    stream: MESSAGES,
    sign: 'event: ping\ndata: {"type": "ping"}\n\n',
    error: "event: error",
  },
] as const;

const ask = (path: string, model: string, stream = true) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: "user", content: "go" }] }),
  });

for (const { path, model, stream, sign, error } of ROUTES) {
  describe(path, () => {
    test("signs of life before the head, and the answer after them", async () => {
      upstream.answer(async () => {
        await Bun.sleep(1_200);
        return sse([...stream]);
      });
      const text = await streamedText(await ask(path, model));
      expect(text.split(sign).length - 1).toBeGreaterThanOrEqual(2);
      expect(text.replaceAll(sign, "")).toBe(stream.join(""));
    });

    test("signs of life in mid-stream, never inside an event", async () => {
      const half = Math.floor(stream[1]!.length / 2);
      upstream.answer(() =>
        sse([
          stream[0]!,
          stream[1]!.slice(0, half),
          { wait: 1_000 },
          stream[1]!.slice(half),
          ...stream.slice(2),
        ]),
      );
      const text = await streamedText(await ask(path, model));
      expect(text.split(sign).length - 1).toBeGreaterThanOrEqual(1);
      expect(text.replaceAll(sign, "")).toBe(stream.join(""));
    });

    test("an upstream that stays silent in mid-stream ends in an error, signs of life or not", async () => {
      upstream.answer(() => stalled([stream[0]!, stream[1]!]));
      const text = await streamedText(await ask(path, model));
      expect(text).toContain(error);
      expect(text).not.toContain("[DONE]");
      expect(text).not.toContain("message_stop");
      await upstream.quiet();
    }, 600_000);

    test("one that never begins is given up: 504 for a JSON answer, an error in band for a stream", async () => {
      upstream.answer(silence);
      const [whole, streamed] = await Promise.all([ask(path, model, false), ask(path, model)]);
      expect(whole.status).toBe(504);
      expect(streamed.status).toBe(200);
      expect(await streamedText(streamed)).toContain(error);
      await upstream.quiet();
    }, 600_000);
  });
}

test("both SDKs read through the signs of life", async () => {
  const late = (stream: readonly string[]) => async () => {
    await Bun.sleep(800);
    return sse([stream[0]!, { wait: 700 }, ...stream.slice(1)]);
  };
  upstream.answer(late(CHAT));
  const chat = openaiClient(gateway.url).chat.completions.stream({
    model: "openai/m",
    messages: [{ role: "user", content: "x" }],
  });
  expect((await chat.finalChatCompletion()).choices[0]?.message.content).toBe("hi");
  upstream.answer(late(MESSAGES));
  const message = anthropicClient(gateway.url).messages.stream({
    model: "anthropic/m",
    max_tokens: 9,
    messages: [{ role: "user", content: "x" }],
  });
  expect((await message.finalMessage()).content).toMatchObject([{ type: "text", text: "hi" }]);
}, 600_000);

test("the first signal drains: running answers finish, new connections are refused", async () => {
  upstream.answer(() => sse([CHAT[0]!, { wait: 600 }, ...CHAT.slice(1)]));
  const own = await startGateway({ config: upstreamConfig({ openai: upstream.url }), target: "process" });
  const response = await fetch(`${own.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "openai/m", stream: true, messages: [{ role: "user", content: "x" }] }),
  });
  const stopped = own.stop();
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
  await stopped;
  expect(await fetch(`${own.url}/health`).catch((error: Error) => error.name)).not.toBeInstanceOf(Response);
}, 600_000);
