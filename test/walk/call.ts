/**
 * A gateway that answers as many calls as `CALLS` says: what runs with one call and not without is the walk of a call. Not a test
 * by itself; `walk.ts` runs it with coverage.
 */
import { expect, test } from "bun:test";
import { startGateway } from "../helpers/gateway.ts";

const CHUNK = (content: string, finish: string | null) =>
  `data: ${JSON.stringify({
    ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }],
  })}\n\n`;

const CHAT = `${CHUNK("hello ", null)}${CHUNK("you", "stop")}data: ${JSON.stringify({
  ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [] },
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})}\n\ndata: [DONE]\n\n`;

const part = (text: string, more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }] })}\r\n\r\n`;

const GEMINI =
  part("hello ") +
  `data: ${JSON.stringify({
    candidates: [{ content: { role: "model", parts: [{ text: "you" }] }, index: 0, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  })}\r\n\r\n`;

interface Walk {
  speaks: string;
  answer: string;
  path: string;
  body: object;
}

const message = { role: "user", content: "hi" };

const WALKS: Readonly<Record<string, Walk>> = {
  native: {
    ...{ speaks: "chat-completions", answer: CHAT, path: "/v1/chat/completions" },
    body: { model: "host/m", stream: true, stream_options: { include_usage: true }, messages: [message] },
  },
  translated: {
    ...{ speaks: "gemini", answer: GEMINI, path: "/v1/messages" },
    body: { model: "host/m", max_tokens: 100, stream: true, messages: [message] },
  },
};

test("calls", async () => {
  const { speaks, answer, path, body } = WALKS[process.env["WALK"] ?? "native"]!;
  const host = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(answer, { headers: { "content-type": "text/event-stream" } }),
  });
  const provider = { baseUrl: `http://127.0.0.1:${host.port}/v1`, apiKey: "k", speaks, models: ["m"] };
  const gateway = await startGateway({ config: { providers: { host: provider } }, target: "source" });
  await gateway.opened();
  for (let call = 0; call < Number(process.env["CALLS"]); call++) {
    const answered = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
    });
    const text = await answered.text();
    expect([answered.status, text]).toEqual([200, expect.stringContaining("you")]);
  }
  // A report to the keeper and a commit, with a call and without.
  await Bun.sleep(1_500);
  await gateway.stop();
  await host.stop(true);
}, 60_000);
