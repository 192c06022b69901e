/** The pipeline: explain shows what a call sends, an attempt prepares anew what is refused, and a call settles once. */
import { describe, expect, test } from "bun:test";
import { UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { answering, ask, makeStage, post } from "../helpers/places.ts";
import { type Answer, type Handler, json, until, type UpstreamRequest } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const bodyOf = ({ body }: UpstreamRequest) => JSON.parse(body.toString()) as Record<string, unknown>;

const refusal = (message: string) => json({ error: { message, type: "invalid_request_error" } }, 400);

const REASONED = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [
    { type: "thinking", thinking: "because", signature: "SIG-1" },
    { type: "tool_use", id: "toolu_1", name: "f", input: {} },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const CLAUDE = { model: "claude-opus-4-6", tools: TOOLS, reasoning_effort: "high" };
const USER = { role: "user", content: "go" };

/** The second turn of a client that drops the reasoning of the first one. */
const REPLAY = {
  ...CLAUDE,
  messages: [
    USER,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "toolu_1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "toolu_1", content: "done" },
  ],
};

/** An edit that reaches the provider, and a hook that makes weir translate within one format. */
const HOOK = `import { definePlugin } from "weir";
export default definePlugin({ name: "cooler", hooks: { request(request) { request.temperature = 0.25; } } });`;

describe("explain shows the request that the call sends", () => {
  const claude = (request: UpstreamRequest): Answer => json(REASONED, request.body.length > 0 ? 200 : 400);
  const headers = { "openai-organization": "org-1", "x-stainless-lang": "js", "anthropic-beta": "b1" };
  const cases: readonly [what: string, body: object, path: string, handler: Handler, plugins?: object][] = [
    ["in the native lane", { model: "openai/gpt-4.1" }, "/v1/chat/completions", answering],
    ["for a native stream", { model: "openai/gpt-4.1", stream: true }, "/v1/chat/completions", answering],
    ["when it is translated", { ...CLAUDE, seed: 7, messages: [USER] }, "/v1/chat/completions", claude],
    ["with restored reasoning", REPLAY, "/v1/chat/completions", claude],
    [
      "with hooks, within one format",
      { model: "openai/gpt-4.1" },
      "/v1/chat/completions",
      answering,
      { "cooler.js": HOOK },
    ],
    ["of a messages client", { model: "openai/gpt-4.1", stream: true }, "/v1/messages", answering],
  ];
  for (const [what, body, path, handler, plugins = {}] of cases)
    test(what, async () => {
      const provider = upstream(handler);
      const config = upstreamConfig({ openai: provider.url, anthropic: provider.url });
      const running = await gateway(config, { plugins: { ...plugins } });
      // The answer of this call fills the cache of reasoning.
      if (body === REPLAY) await ask(running, { body: { ...CLAUDE, messages: [USER] } });
      const called = await ask(running, { body, path, headers });
      expect(called.status).toBe(200);
      const sent = provider.requests.at(-1)!;
      const format = path === "/v1/messages" ? "messages" : "chat-completions";
      const { text } = await ask(running, { body, path: `/v1/explain?format=${format}`, headers });
      const { request, losses } = JSON.parse(text) as {
        request: { url: string; headers: Record<string, string>; body: object };
        losses: { code: string; path: string }[];
      };
      expect(request.body).toEqual(bodyOf(sent));
      const shown = losses.map(({ code, path }) => `${code}:${path}`).join(", ");
      expect(shown).toBe(called.headers.get("x-weir-warnings") ?? "");
      expect(request.url).toBe(provider.url + sent.path);
      for (const [name, value] of Object.entries(request.headers))
        if (name !== "authorization" && name !== "x-api-key")
          expect([name, sent.headers.get(name)]).toEqual([name, value]);
      for (const key of Object.values(UPSTREAM_KEYS)) expect(text).not.toContain(key);
    });
});

describe("an attempt prepares the request anew", () => {
  // Reasoning without a signature may go to any provider.
  const messages = [
    USER,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "because", signature: "" },
        { type: "text", text: "done" },
      ],
    },
    USER,
  ];

  test("without the token counts and without the reasoning, one after the other", async () => {
    const seen: string[] = [];
    const provider = upstream((request) => {
      const { stream_options: counts, messages: sent } = bodyOf(request);
      const isReasoned = JSON.stringify(sent).includes("because");
      seen.push([counts === undefined ? "" : "counts", isReasoned ? "reasoning" : ""].join(" ").trim());
      if (counts !== undefined) return refusal("Unrecognized request argument supplied: stream_options");
      return isReasoned ? refusal("Invalid signature in thinking block") : answering(request);
    });
    const plugin = `import { chatCompletions, definePlugin } from "weir";
export default definePlugin({ name: "acme", providers: [chatCompletions({ name: "acme", baseUrl: ${JSON.stringify(provider.url)}, traits: { reasoningReplay: "required" } })] });`;
    const running = await gateway({}, { plugins: { "acme.js": plugin } });
    const body = { model: "acme/m", stream: true, messages, max_tokens: 9 };
    const { status, text, headers } = await ask(running, { body, path: "/v1/messages" });
    expect([seen, status]).toEqual([["counts reasoning", "reasoning", ""], 200]);
    expect(text).toContain("hello");
    expect(headers.get("x-weir-attempts")).toBe(null);
  });

  test("for every call that meets the refusal at the same time", async () => {
    const waiting: PromiseWithResolvers<Answer>[] = [];
    const provider = upstream((request) => {
      if (!request.body.includes("stream_options")) return answering(request);
      const held = Promise.withResolvers<Answer>();
      waiting.push(held);
      return held.promise;
    });
    const running = await gateway(upstreamConfig({ openai: provider.url }));
    const body = { model: "openai/gpt-4.1", stream: true, max_tokens: 9 };
    const calls = [1, 2, 3].map(() => ask(running, { body, path: "/v1/messages" }));
    await until(
      () => waiting.length === 3,
      10_000,
      () => `${waiting.length} of 3 calls arrived`,
    );
    for (const { resolve } of waiting) resolve(refusal("Unknown parameter: stream_options"));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe("a call settles once", () => {
  const late =
    (body: object, status: number): Handler =>
    async () => {
      await Bun.sleep(1_500);
      return json(body, status);
    };
  const error = { error: { message: "Busy today.", type: "server_error", param: null, code: null } };

  for (const [what, path, model] of [
    ["native", "/v1/chat/completions", "openai/gpt-4.1"],
    ["translated", "/v1/messages", "openai/gpt-4.1"],
  ])
    test(`when a held stream ends in a refusal, ${what}`, async () => {
      const provider = upstream(late(error, 400));
      const running = await gateway({
        ...upstreamConfig({ openai: provider.url }),
        timeouts: { holdMs: 300, heartbeatMs: 300 },
      });
      const { status, text } = await ask(running, { path, body: { model, stream: true } });
      expect([status, text]).toEqual([200, expect.stringContaining("Busy today.")]);
      const lines = () => running.log.filter((line) => line.includes('"outcome"'));
      await until(
        () => lines().length > 0,
        10_000,
        () => "nothing is logged",
      );
      await Bun.sleep(300);
      expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([
        { status: 200, outcome: "failed", error: { kind: "invalid-request" } },
      ]);
      expect(running.log.join("\n")).not.toContain("settled twice");
    });

  test("when the client leaves a held stream, and its provider answers afterwards", async () => {
    const provider = upstream(late(error, 400));
    const running = await gateway({
      ...upstreamConfig({ openai: provider.url }),
      timeouts: { holdMs: 300, heartbeatMs: 300 },
    });
    const leaving = new AbortController();
    const response = await post(running, { body: { stream: true }, signal: leaving.signal });
    expect(response.status).toBe(200);
    leaving.abort();
    const lines = () => running.log.filter((line) => line.includes('"outcome"'));
    await until(
      () => lines().length > 0,
      10_000,
      () => "nothing is logged",
    );
    await Bun.sleep(1_600);
    expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([{ outcome: "cancelled" }]);
    expect(running.log.join("\n")).not.toContain("settled twice");
  });
});
