/** Deployments, routes and fallbacks over real sockets: what is tried where, and how the client is told. */
import { describe, expect, test } from "bun:test";
import type { RunningGateway } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { answering, ask, failing, inOrder, keyOf, makeStage, places, STREAM } from "../helpers/places.ts";
import { cut, type Handler, html, json, redirect, silence, sse } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const DEAD = "http://127.0.0.1:1";

/** The fields of the last log line of a call. */
async function lastLine({ log }: RunningGateway): Promise<Record<string, unknown>> {
  await Bun.sleep(80);
  const lines = log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as object);
  return lines.findLast((line) => "outcome" in line) as Record<string, unknown>;
}

test("a dead first provider: the answer comes from the second, and headers and log say so", async () => {
  const running = await gateway({
    providers: { openai: { apiKey: "sk-none", baseUrl: `${DEAD}/v1` } },
    routes: { smart: ["openai/gpt-4.1", { model: "mock/chat", priority: 1 }] },
  });
  const { status, headers, text } = await ask(running, { body: { model: "smart" } });
  expect([status, headers.get("x-weir-provider")]).toEqual([200, "mock"]);
  expect(headers.get("x-weir-attempts")).toBe("2");
  expect(headers.get("x-weir-tried")).toMatch(/^openai:refused:\d+ms$/);
  expect(text).toContain('"object":"chat.completion"');
  expect(await lastLine(running)).toMatchObject({
    model: "smart",
    provider: "mock",
    attempts: [
      { provider: "openai", deployment: "openai", class: "not-sent", what: "refused" },
      { provider: "mock", model: "chat", class: "answered" },
    ],
  });
});

test("the tokens of a failed attempt are logged with it, and those of the answer as before", async () => {
  const begins = {
    type: "message_start",
    message: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: { input_tokens: 41, output_tokens: 1 },
    },
  };
  const breaks = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const failed = upstream(sse([event(begins), event(breaks)]));
  const running = await gateway({
    providers: {
      anthropic: { apiKey: "sk-none", baseUrl: failed.url },
      ...places([upstream(answering).url]),
    },
    routes: { smart: ["anthropic/claude-haiku-4-5", { model: "openai/m", priority: 1 }] },
  });
  // Above this limit weir asks for a stream, although the client gets one JSON body.
  const { status } = await ask(running, { body: { model: "smart", max_tokens: 9000 } });
  expect(status).toBe(200);
  expect(await lastLine(running)).toMatchObject({
    tokens: { input: 1, output: 1 },
    attempts: [
      { provider: "anthropic", class: "status", tokens: { input: 41 } },
      { provider: "openai", class: "answered" },
    ],
  });
});

test("one that keeps failing is left alone, and the header says that it was", async () => {
  const running = await gateway({ providers: places([DEAD, upstream(answering).url], inOrder) });
  const seen: (string | null)[] = [];
  for (let call = 0; call < 5; call++) seen.push((await ask(running)).headers.get("x-weir-skipped"));
  expect(seen).toEqual([null, null, null, "openai/d0", "openai/d0"]);
  expect((await ask(running)).headers.get("x-weir-deployment")).toBe("openai/d1");
});

/** Failures of a first deployment after which the second one answers. */
const ELSEWHERE: readonly [why: string, first: () => ReturnType<Handler>, tried: RegExp][] = [
  ["500", () => failing(500), /:500:/],
  ["503", () => failing(503), /:503:/],
  ["529", () => failing(529), /:529:/],
  ["408", () => failing(408), /:408:/],
  ["425", () => failing(425), /:425:/],
  ["a rate limit", () => failing(429, { "retry-after": "60" }), /:429:/],
  ["a refused credential", () => failing(401), /:401:/],
  ["an empty account", () => failing(402), /:402:/],
  ["a page of HTML", () => html(502), /:502:/],
  ["200 with a page of HTML", () => html(200), /:invalid-answer:/],
  ["200 with an error", () => failing(200), /:invalid-answer:/],
  ["204", () => ({ status: 204 }), /:invalid-answer:/],
  ["a redirect", () => redirect(307, "http://127.0.0.1:1/"), /:307:/],
  ["a reset before the head", () => ({ raw: [], ending: "rst" }), /:reset:/],
  ["half a head", () => ({ raw: ["HTTP/1.1 200 OK\r\n"], ending: "fin" }), /:reset:/],
  ["what is not HTTP", () => ({ raw: ["SSH-2.0-OpenSSH_9.2\r\n\r\n"], ending: "fin" }), /:protocol:/],
];

for (const stream of [false, true])
  describe(stream ? "streamed" : "whole", () => {
    for (const [why, first, tried] of ELSEWHERE)
      test(`${why}: another deployment answers`, async () => {
        const [one, two] = [upstream(first), upstream(answering)];
        const running = await gateway({ providers: places([one.url, two.url], inOrder) });
        for (const path of ["/v1/chat/completions", "/v1/messages"]) {
          const { status, headers, text } = await ask(running, {
            body: { stream },
            headers: { "x-session-id": path },
            path,
          });
          expect([status, text]).toEqual([200, expect.stringContaining("hello")]);
          if (path.endsWith("completions")) expect(headers.get("x-weir-tried")).toMatch(tried);
        }
        const keys = [one, two].map(({ requests }) => requests[0]?.headers.get("authorization"));
        expect(keys).toEqual([0, 1].map((index) => `Bearer ${keyOf(index)}`));
      });

    for (const status of [400, 404, 413, 422])
      test(`${status} is the request's own fault and is asked nobody else`, async () => {
        const [one, two] = [upstream(failing(status)), upstream(answering)];
        const running = await gateway({ providers: places([one.url, two.url], inOrder) });
        const got = await ask(running, { body: { stream } });
        expect([got.status, two.requests.length]).toEqual([status, 0]);
        expect(got.headers.get("x-should-retry")).toBeNull();
      });
  });

describe("streams", () => {
  test("a first event that is an error is a failure like any other", async () => {
    const [one, two] = [
      upstream(
        sse(['data: {"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}\n\n']),
      ),
      upstream(answering),
    ];
    const running = await gateway({ providers: places([one.url, two.url], inOrder) });
    const { headers, text } = await ask(running, { body: { stream: true } });
    expect(text).toBe(STREAM.join(""));
    expect(headers.get("x-weir-tried")).toStartWith("openai/d0:overloaded:");
  });

  test("a stream that breaks before its first event is begun anew elsewhere, and never twice", async () => {
    const broken = () => cut([": hello\n\n"], "rst");
    const [one, two, three] = [upstream(broken), upstream(broken), upstream(answering)];
    const running = await gateway({ providers: places([one.url, two.url, three.url], inOrder) });
    const { status } = await ask(running, { body: { stream: true } });
    expect([status, three.requests.length]).toEqual([502, 0]);
    expect([one.requests.length, two.requests.length]).toEqual([1, 1]);
  });

  test("behind the first event nothing is repeated", async () => {
    const [one, two] = [upstream(() => cut([STREAM[0]!], "rst")), upstream(answering)];
    const running = await gateway({ providers: places([one.url, two.url], inOrder) });
    const { status, text } = await ask(running, { body: { stream: true } });
    expect([status, two.requests.length]).toEqual([200, 0]);
    expect(text).toContain('"code":"stream_incomplete"');
    expect(text).not.toContain("[DONE]");
  });

  test("signs of life go out while a second attempt is made", async () => {
    const slow: Handler = async () => {
      await Bun.sleep(700);
      return sse(STREAM);
    };
    const [one, two] = [upstream(silence), upstream(slow)];
    const running = await gateway({
      providers: {
        openai: { ...places([one.url, two.url], inOrder).openai, timeouts: { firstByteMs: 4_000 } },
      },
      timeouts: { holdMs: 400, heartbeatMs: 300 },
    });
    const { status, text } = await ask(running, { body: { stream: true } });
    expect(status).toBe(200);
    expect(text.split(": keepalive\n\n").length).toBeGreaterThan(3);
    expect(text.replaceAll(": keepalive\n\n", "")).toBe(STREAM.join(""));
    await one.quiet();
  });
});

test("messages to messages: the vendor's SDK reads the second one's own bytes", async () => {
  const event = (type: string, more: object = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", usage };
  const stream = [
    event("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "hello" } }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
    event("message_stop"),
  ];
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const one = upstream(sse([event("error", overloaded)]));
  const two = upstream(sse(stream));
  const deployments = [one, two].map(({ url }, priority) => ({
    name: `d${priority}`,
    apiKey: "sk-none",
    baseUrl: url,
    priority,
  }));
  const running = await gateway({ providers: { anthropic: { deployments } } });
  const body = {
    model: "claude-opus-4-6",
    max_tokens: 9,
    messages: [{ role: "user" as const, content: "go" }],
  };
  const answer = anthropicClient(running.url, { maxRetries: 2 }).messages.stream(body);
  expect((await answer.finalMessage()).content).toMatchObject([{ type: "text", text: "hello" }]);
  expect([one.requests.length, two.requests.length]).toEqual([1, 1]);
});

describe("fallbacks", () => {
  test("another model answers in the client's own language, whatever it speaks itself", async () => {
    const one = upstream(failing(503));
    const running = await gateway({
      providers: { openai: { apiKey: "sk-none", baseUrl: `${one.url}/v1` } },
      fallbacks: { "gpt-*": ["mock/echo"] },
    });
    for (const stream of [false, true]) {
      const { status, headers, text } = await ask(running, { body: { model: "gpt-4.1", stream } });
      expect([status, headers.get("x-weir-provider"), headers.get("x-weir-model")]).toEqual([
        200,
        "mock",
        "echo",
      ]);
      expect(text).toContain("go");
    }
    // Once more at the same place, then the fallback.
    expect(one.requests.length).toBe(2 + 1);
  });

  test("what an attempt could not carry over is not said of the next one", async () => {
    const one = upstream(json({ type: "error", error: { type: "overloaded_error", message: "x" } }, 529));
    const two = upstream(answering);
    const running = await gateway({
      providers: {
        anthropic: { apiKey: "sk-none", baseUrl: one.url },
        openai: { apiKey: "sk-none", baseUrl: `${two.url}/v1` },
      },
      routes: { smart: ["anthropic/claude-opus-4-6", { model: "openai/m", priority: 1 }] },
    });
    const { status, headers } = await ask(running, { body: { model: "smart", seed: 7 } });
    expect([status, headers.get("x-weir-lane")]).toEqual([200, "native"]);
    expect(headers.get("x-weir-warnings")).toBeNull();
    expect(JSON.parse(two.requests[0]!.body.toString())).toMatchObject({ model: "m", seed: 7 });
  });

  test("a prompt that is too long for one model is given to a larger one, where the config names it", async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 9000.";
    const error = { message, type: "invalid_request_error", param: null, code: "context_length_exceeded" };
    const one = upstream(json({ error }, 400));
    const running = await gateway({
      providers: { openai: { apiKey: "sk-none", baseUrl: `${one.url}/v1` } },
      fallbacks: { "gpt-4*": ["mock/chat", { model: "mock/echo", when: "too-long" }], "*": ["mock/chat"] },
    });
    const larger = await ask(running, { body: { model: "gpt-4" } });
    expect([larger.status, larger.headers.get("x-weir-model")]).toEqual([200, "echo"]);
    const refused = await ask(running, { body: { model: "gpt-5" } });
    expect([refused.status, refused.text]).toEqual([400, JSON.stringify({ error })]);
  });

  test("the same for a messages upstream that says so in another vendor's words", async () => {
    const message = "the request exceeds the available context size, try increasing it";
    const body = { type: "error", error: { type: "invalid_request_error", message } };
    const one = upstream(json(body, 400));
    const running = await gateway({
      providers: { anthropic: { apiKey: "sk-none", baseUrl: one.url } },
      fallbacks: { "claude-*": [{ model: "mock/echo", when: "too-long" }] },
    });
    for (const path of ["/v1/messages", "/v1/chat/completions"])
      for (const status of [400, 200]) {
        one.answer(() => json(body, status));
        const larger = await ask(running, { path, body: { model: "claude-x", max_tokens: 9 } });
        expect([path, status, larger.status]).toEqual([path, status, 200]);
        expect(larger.headers.get("x-weir-model")).toBe("echo");
      }
  });

  test("with nothing to stand in, each client reads of it in the words of its own dialect", async () => {
    const error = {
      type: "invalid_request_error",
      message: "prompt is too long: 210000 tokens > 200000 maximum",
    };
    const one = upstream(json({ type: "error", error }, 400));
    const two = upstream(
      json(
        {
          error: {
            message:
              "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
          },
        },
        400,
      ),
    );
    const running = await gateway({
      providers: {
        anthropic: { apiKey: "sk-none", baseUrl: one.url },
        openai: { apiKey: "sk-none", baseUrl: `${two.url}/v1` },
      },
    });
    const told = async (path: string, model: string) => {
      const { status, text } = await ask(running, { path, body: { model, max_tokens: 9 } });
      return [status, (JSON.parse(text) as { error: { message: string } }).error.message];
    };
    expect(await told("/v1/chat/completions", "anthropic/m")).toEqual([
      400,
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.",
    ]);
    expect(await told("/v1/messages", "openai/m")).toEqual([
      400,
      "prompt is too long: 210000 tokens > 200000 maximum (capability_rejected: prompt_too_long)",
    ]);
  });

  test("a program may fail and be stood in for", async () => {
    const running = await gateway({ fallbacks: { "mock/error-503": ["mock/throw", "mock/echo"] } });
    const { status, headers } = await ask(running, { body: { model: "mock/error-503" } });
    expect([status, headers.get("x-weir-model")]).toEqual([200, "echo"]);
    expect(headers.get("x-weir-tried")).toMatch(/^mock:503:\d+ms, mock:(internal|500):\d+ms$/);
  });
});
