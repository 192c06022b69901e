/** A schema guard holds a slow stream: its client gets heartbeats, and then all of it or an error. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { chunk } from "../../../../test/helpers/places.ts";
import { sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
let upstream: Upstream;
let args = "";

const calling = (more: object) => ({ tool_calls: [{ index: 0, ...more }] });

beforeAll(async () => {
  upstream = startUpstream(() =>
    sse([
      chunk({ role: "assistant" }),
      chunk(calling({ id: "c", type: "function", function: { name: "send", arguments: "" } })),
      ...[...args].flatMap((letter) => [chunk(calling({ function: { arguments: letter } })), { wait: 60 }]),
      chunk({}, "tool_calls"),
      "data: [DONE]\n\n",
    ]),
  );
  gateway = await startGateway({
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models: ["m"] },
      },
      guards: { shape: { schema: { tools: true } } },
      timeouts: { holdMs: 200, heartbeatMs: 150 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function ask(said: string) {
  args = said;
  const parameters = { type: "object", properties: { to: { type: "string" } }, required: ["to"] };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: "p/m", stream: true, messages: [{ role: "user", content: "Go" }] },
      tools: [{ type: "function", function: { name: "send", parameters } }],
    }),
  });
  const startedAt = performance.now();
  let text = "";
  let first = 0;
  try {
    for await (const piece of response.body!) {
      text += Buffer.from(piece).toString();
      if (first === 0 && text.includes("data:")) first = performance.now() - startedAt;
    }
  } catch {
    // The connection ends with the error.
  }
  return { status: response.status, text, first };
}

test("what matches comes at the end, behind heartbeats", async () => {
  const { status, text, first } = await ask('{"to":"bob and ann"}');
  expect(status).toBe(200);
  expect(first).toBeGreaterThan(500);
  expect(text).toMatch(/^:/);
  expect(text).toContain("[DONE]");
});

test("what does not match is an error within the stream, and nothing of it comes", async () => {
  const { status, text } = await ask('{"too":"bob and ann"}');
  expect([status, text]).toEqual([200, expect.stringContaining("to is required")]);
  expect(text).not.toMatch(/tool_calls|\[DONE\]/);
});
