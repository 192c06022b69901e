import { describe, expect, test } from "bun:test";
import { readFileSync, existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Tool } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { type CallOptions, decode, encode, failure } from "./make.ts";

const f: Tool = { kind: "function", name: "f" };
const HI = [{ role: "user", content: "hi" }];

describe("the body", () => {
  test("has the upstream's model and the messages last; streams ask for usage", () => {
    expect(
      encode({ maxTokens: 5, temperature: 0.5, topP: 0.9, stop: ["END"], stream: true }, { model: "up" })
        .body,
    ).toEqual({
      model: "up",
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      messages: HI,
    });
    expect(Object.keys(encode({ maxTokens: 5, tools: [f] }).body).at(-1)).toBe("messages");
    expect(encode({ stream: true }, { traits: { streamOptions: false } }).body).toEqual({
      model: "some-model",
      stream: true,
      messages: HI,
    });
  });

  test("the limit goes by the name the provider or the model knows", () => {
    const limits = (
      [
        {},
        { traits: { maxTokensField: "max_completion_tokens" } },
        { model: "gpt-5" },
        { model: "gpt-5", traits: { maxTokensField: "max_tokens" } },
      ] as CallOptions[]
    ).map((options) => Object.keys(encode({ maxTokens: 5 }, options).body)[1]);
    expect(limits).toEqual(["max_tokens", "max_completion_tokens", "max_completion_tokens", "max_tokens"]);
  });

  test("Claude Code's 128000 is clamped to what the model writes", () => {
    expect(encode({ maxTokens: 128_000 }, { model: "gpt-4o" })).toMatchObject({
      body: { max_tokens: 16_384 },
      losses: ["clamped:max_tokens"],
    });
    expect(encode({ maxTokens: 128_000 }).losses).toEqual([]);
  });

  test("top_k reaches only providers that accept it; for others it is a loss", () => {
    expect(encode({ topK: 5 })).toMatchObject({ losses: ["dropped:top_k"] });
    expect(encode({ topK: 5 }).body).not.toHaveProperty("top_k");
    expect(encode({ topK: 5 }, { traits: { topK: true } }).body.top_k).toBe(5);
  });

  test("verbosity reaches the models that know it, and any model of a client that writes it itself", () => {
    expect(encode({ verbosity: "low" }, { model: "gpt-5.4" })).toMatchObject({
      body: { verbosity: "low" },
      losses: [],
    });
    expect(encode({ verbosity: "low" }, { format: "chat-completions" }).body.verbosity).toBe("low");
    const paths = { verbosity: "text.verbosity" };
    expect(encode({ verbosity: "low", paths })).toMatchObject({ losses: ["dropped:text.verbosity"] });
    expect(encode({ verbosity: "low", paths }).body).not.toHaveProperty("verbosity");
  });

  test("stop is a list; what the upstream does not take is left to the gateway and no loss", () => {
    expect(encode({ stop: ["END"] }).body.stop).toEqual(["END"]);
    expect(encode({ stop: ["1", "2", "3", "4", "5"] })).toMatchObject({
      body: { stop: ["1", "2", "3", "4"] },
      losses: [],
    });
    expect(encode({ stop: ["1", "2"] }, { traits: { maxStop: 1 } }).body.stop).toEqual(["1"]);
    for (const model of ["o3", "o4-mini", "gpt-5", "gpt-6-sol"])
      expect(encode({ stop: ["END"] }, { model }).body).not.toHaveProperty("stop");
  });

  test("the user is masked; the session is a cache key where there is one", () => {
    const claudeCode = JSON.stringify({
      device_id: "d".repeat(64),
      account_uuid: "a".repeat(36),
      session_id: "s".repeat(36),
    });
    const parts = { user: claudeCode, session: "s-1" };
    expect(encode(parts).body).toEqual({
      model: "some-model",
      user: expect.stringMatching(/^[0-9a-f]{64}$/),
      messages: HI,
    } as unknown as JsonObject);
    expect(
      encode(parts, { traits: { userField: "safety_identifier", promptCacheKey: true } }).body,
    ).toMatchObject({
      safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/),
      prompt_cache_key: "s-1",
    });
  });

  test("service tiers", () => {
    const tier = (serviceTier: string, format: string) =>
      encode({ serviceTier }, { format }).body.service_tier;
    expect(tier("auto", "messages")).toBeUndefined();
    expect(tier("standard", "messages")).toBe("default");
    expect(tier("standard", "chat-completions")).toBe("default");
    expect(tier("flex", "chat-completions")).toBe("flex");
  });
});

describe("fields without a counterpart", () => {
  test("those a caller depends on are refused by their name", async () => {
    for (const field of ["container", "mcp_servers", "compaction", "fallbacks", "inference_geo"]) {
      const error = await failure(() =>
        encode({ extra: { messages: { [field]: field === "mcp_servers" ? [{}] : "us" } } }),
      );
      expect(error).toMatchObject({ kind: "invalid-request", param: field, code: "unsupported_value" });
    }
  });

  test("those that change the answer are told once, bookkeeping never", () => {
    const messages = {
      speed: "fast",
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      diagnostics: {},
      billing_policy: "x",
      mcp_servers: [],
      inference_geo: "global",
      unknown: 1,
    };
    expect(encode({ extra: { messages } })).toMatchObject({
      body: { model: "some-model", messages: HI },
      losses: ["dropped:speed", "dropped:context_management"],
    });
    expect(
      encode({
        extra: {
          messages: {
            context_management: { edits: [{ type: "clear_thinking_20251015" }] },
            speed: "standard",
          },
        },
      }).losses,
    ).toEqual([]);
  });

  test("of this format's own, what the events cannot carry back is refused, the rest is passed on", async () => {
    for (const field of [
      { n: 2 },
      { logprobs: true },
      { top_logprobs: 2 },
      { modalities: ["text", "audio"] },
    ]) {
      const error = await failure(() =>
        encode({ extra: { "chat-completions": field } }, { format: "chat-completions" }),
      );
      expect(error).toMatchObject({ param: Object.keys(field)[0]!, code: "unsupported_value" });
    }
    const own = {
      n: 1,
      logprobs: false,
      seed: 4,
      metadata: { a: "b" },
      chat_template_kwargs: { enable_thinking: false },
    };
    expect(encode({ extra: { "chat-completions": own } }, { format: "chat-completions" }).body).toEqual({
      model: "some-model",
      ...own,
      messages: HI,
    });
  });
});

describe("a request of this format goes out as it came in", () => {
  const bodies: [what: string, body: JsonObject][] = [
    [
      "conversation",
      {
        messages: [
          { role: "system", content: "S" },
          { role: "user", content: "q", name: "eve" },
          { role: "assistant", content: "a" },
          {
            role: "user",
            content: [
              { type: "text", text: "see" },
              { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "high" } },
            ],
          },
        ],
      },
    ],
    [
      "tools",
      {
        messages: [
          { role: "user", content: "q" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: '{"a": 1}' } }],
          },
          { role: "tool", tool_call_id: "call_1", content: "1" },
        ],
        tools: [
          {
            type: "function",
            function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
          },
        ],
        tool_choice: "required",
        parallel_tool_calls: false,
      },
    ],
    [
      "settings",
      {
        messages: HI,
        max_tokens: 5,
        temperature: 0.3,
        top_p: 0.5,
        stop: ["a"],
        response_format: {
          type: "json_schema",
          json_schema: { name: "n", schema: { type: "object" }, strict: true },
        },
        user: "u",
        seed: 1,
        logit_bias: { "50256": -100 },
        presence_penalty: 1,
      },
    ],
    [
      "reasoning of a vendor's own",
      { messages: HI, thinking: { type: "enabled", budget_tokens: 2000 }, enable_thinking: true },
    ],
    [
      "Gemini's signature",
      {
        messages: [
          { role: "user", content: "q" },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                id: "c",
                type: "function",
                function: { name: "f", arguments: "{}" },
                extra_content: { google: { thought_signature: "s" } },
              },
            ],
          },
          { role: "tool", tool_call_id: "c", content: "1" },
        ],
      },
    ],
  ];
  test.each(bodies)("%s", (_what, body) => {
    const whole = { model: "gemini-3-pro", ...body };
    const sent = encode(decode(whole), { format: "chat-completions", model: "gemini-3-pro" });
    expect(sent.body).toEqual(whole);
    expect(sent.losses).toEqual([]);
  });
});

const captures = resolve(import.meta.dir, "../../../../shared/captures");
const captured = (name: string) =>
  readFileSync(resolve(captures, name), "utf8")
    .split("\n")
    .filter((line) => line.includes("/chat/completions"))
    .map((line) => (JSON.parse(line) as { body: JsonObject }).body);

if (!existsSync(captures))
  console.log("The captures are not beside the repository (../shared/captures): nothing to read.");

test.skipIf(!existsSync(captures))(
  "requests of real clients are checked, decoded and written without a loss of text",
  () => {
    const names = [
      "opencode-tool.jsonl",
      "qwen-tool.jsonl",
      "pi-mock-tool.jsonl",
      "copilot-openai-completions-tool.jsonl",
      "codexold-chat-tool.jsonl",
    ];
    const bodies = names.flatMap(captured);
    expect(bodies.length).toBeGreaterThan(5);
    for (const body of bodies) {
      const sent = encode(decode(body), { format: "chat-completions", model: String(body.model) });
      const texts = JSON.stringify(body.messages).match(/"(?:content|text)":"(?:[^"\\]|\\.){20,}"/g) ?? [];
      const written = JSON.stringify(sent.messages);
      for (const text of texts) expect(written).toContain(text.slice(text.indexOf(":") + 2, -1));
    }
  },
);
