/** Token counts of native chat streams whose clients did not ask for them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway, UPSTREAM_KEYS } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, until, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const provider = { baseUrl: `${upstream.url}/v1`, apiKey: UPSTREAM_KEYS.openai };
  gateway = await startGateway({
    config: {
      providers: { openai: provider, mistral: provider, groq: provider },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
const TEXT = [
  chunk([{ index: 0, delta: { role: "assistant", content: "It is" }, finish_reason: null }], { usage: null }),
  chunk([{ index: 0, delta: { content: " ünï🙂" }, finish_reason: null }], { usage: null }),
  chunk([{ index: 0, delta: {}, finish_reason: "stop" }], { usage: null }),
];
const COUNTS = chunk([], { usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 } });
const DONE = "data: [DONE]\n\n";
const ALL = [...TEXT, COUNTS, DONE].join("");

const body = (more: string, model = "openai/gpt-4.1") =>
  `{ "model":"${model}","stream":true,"messages":[{"role":"user","content":"hi"}]${more}}`;

async function send(
  text: string,
): Promise<{ status: number; answer: string; sent: string; tokens: Record<string, unknown> }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: text,
  });
  const answer = await response.text();
  const id = response.headers.get("x-request-id")!;
  const line = () => gateway.log.find((entry) => entry.includes(id));
  await until(
    () => line() !== undefined,
    5_000,
    () => `there is no log line of ${id}`,
  );
  const { tokens } = JSON.parse(line()!) as { tokens: Record<string, unknown> };
  return { status: response.status, answer, sent: upstream.requests.at(-1)!.body.toString(), tokens };
}

test("a native chat stream whose client did not ask for usage books its tokens, and the client does not see that weir asked", async () => {
  for (const size of [1, 7, 64, ALL.length]) {
    const bytes = Buffer.from(ALL);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => [
      bytes.subarray(index * size, (index + 1) * size),
      { wait: 0 },
    ]).flat();
    upstream.answer(() => sse(pieces));
    const { answer, sent, tokens } = await send(body(""));
    expect(answer).toBe([...TEXT, DONE].join(""));
    expect(sent).toBe(
      body("").replace("{", '{"stream_options":{"include_usage":true},').replace("openai/", ""),
    );
    expect(tokens).toMatchObject({ input: 1000, output: 50, known: "final" });
  }
});

test("options of the client are kept beside the question, and a client that asked gets the answer", async () => {
  upstream.answer(() => sse([ALL]));
  const merged = await send(body(',"stream_options": {"include_obfuscation":false, "include_usage":false}'));
  expect(merged.sent).toContain('"stream_options": {"include_obfuscation":false,"include_usage":true}');
  expect(merged.answer).toBe([...TEXT, DONE].join(""));
  const asked = await send(body(',"stream_options": { "include_usage" : true}'));
  expect(asked.sent).toContain('"stream_options": { "include_usage" : true}');
  expect(asked.answer).toBe(ALL);
  expect((await send(body(',"stream_options":null'))).sent).toContain(
    '"stream_options":{"include_usage":true}',
  );
});

test("an answer that is not streamed, and a provider whose trait says no, are not asked", async () => {
  upstream.answer(() => sse([ALL]));
  expect((await send(body("", "mistral/mistral-large-latest"))).sent).not.toContain("stream_options");
  upstream.answer(() => json({ choices: [{ index: 0, message: {}, finish_reason: "stop" }] }));
  const { sent, tokens } = await send(body("").replace("true", "false"));
  expect(sent).not.toContain("stream_options");
  expect(tokens).toMatchObject({ input: 0, output: 0, known: "absent" });
});

test("a host that answers the question with 400 is asked again without it, once, and remembered", async () => {
  const refusal = {
    error: {
      message: "Unrecognized request argument supplied: stream_options",
      type: "invalid_request_error",
    },
  };
  upstream.answer((request) =>
    request.body.includes("stream_options") ? json(refusal, 400) : sse([[...TEXT, DONE].join("")]),
  );
  const before = upstream.requests.length;
  const first = await send(body("", "groq/llama-3.1-8b-instant"));
  expect([first.status, first.answer]).toEqual([200, [...TEXT, DONE].join("")]);
  expect(upstream.requests.length).toBe(before + 2);
  const second = await send(body("", "groq/llama-3.1-8b-instant"));
  expect(second.answer).toBe([...TEXT, DONE].join(""));
  expect(upstream.requests.length).toBe(before + 3);
  expect(second.tokens).toMatchObject({ input: 0, output: 0, known: "absent" });
  // A client's own question is the client's business.
  const own = await send(body(',"stream_options":{"include_usage":true}', "groq/llama-3.1-8b-instant"));
  expect([own.status, upstream.requests.length]).toEqual([400, before + 4]);
});

test("the OpenAI SDK reads such a stream as it reads any other", async () => {
  upstream.answer(() => sse([ALL]));
  const stream = openaiClient(gateway.url).chat.completions.stream({
    model: "openai/gpt-4.1",
    messages: [{ role: "user", content: "hi" }],
  });
  const completion = await stream.finalChatCompletion();
  expect(completion.choices[0]!.message.content).toBe("It is ünï🙂");
  expect(completion.usage).toBeFalsy();
});

test("explain names the members that weir changes in a native body", async () => {
  const response = await fetch(`${gateway.url}/v1/explain?format=chat-completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body(""),
  });
  const { request } = (await response.json()) as { request: { body: object; changed: string[] } };
  expect(request.changed).toEqual(["model", "stream_options"]);
  expect(request.body).toMatchObject({ stream_options: { include_usage: true } });
});
