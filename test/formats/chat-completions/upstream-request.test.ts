import { describe, expect, test } from "bun:test";
import { readFileSync, existsSync } from "node:fs";
import { resolve } from "node:path";
import type { AnswerFormat, ChatRequest, ReasoningWish, Tool } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { modelFacts, nearestEffort } from "../../../src/formats/chat-completions/models.ts";
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

  test("top_k only where it is known, silently", () => {
    expect(encode({ topK: 5 })).toMatchObject({ losses: [] });
    expect(encode({ topK: 5 }).body).not.toHaveProperty("top_k");
    expect(encode({ topK: 5 }, { traits: { topK: true } }).body.top_k).toBe(5);
  });

  test("F-67: stop is a list; what the upstream does not take is left to the gateway and no loss", () => {
    expect(encode({ stop: ["END"] }).body.stop).toEqual(["END"]);
    expect(encode({ stop: ["1", "2", "3", "4", "5"] })).toMatchObject({
      body: { stop: ["1", "2", "3", "4"] },
      losses: [],
    });
    expect(encode({ stop: ["1", "2"] }, { traits: { maxStop: 1 } }).body.stop).toEqual(["1"]);
    for (const model of ["o3", "o4-mini", "gpt-5", "gpt-6-sol"])
      expect(encode({ stop: ["END"] }, { model }).body).not.toHaveProperty("stop");
  });

  test("F-85, F-91: the user is masked; the session is a cache key where there is one", () => {
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
    expect(tier("standard_only", "messages")).toBe("default");
    expect(tier("flex", "chat-completions")).toBe("flex");
  });
});

describe("effort", () => {
  const effort = (
    reasoning: ReasoningWish | undefined,
    options: CallOptions = { model: "gpt-5.2" },
    parts: Partial<ChatRequest> = {},
  ) => {
    const { body, losses } = encode({ reasoning, ...parts }, options);
    return [body.reasoning_effort, ...losses];
  };

  const cases: [wish: ReasoningWish | undefined, sent: (string | undefined)[]][] = [
    [undefined, [undefined]],
    [{ mode: "adaptive" }, [undefined]],
    [{ mode: "adaptive", effort: "high" }, ["high"]],
    [{ effort: "max" }, ["xhigh", "clamped:output_config.effort"]],
    [{ effort: "minimal" }, ["low", "clamped:output_config.effort"]],
    [{ mode: "off" }, ["none"]],
    [{ mode: "off", effort: "high" }, ["none"]],
    [{ mode: "between-tools" }, ["low"]],
    [{ mode: "budget", budget: 1024 }, ["low"]],
    [{ mode: "budget", budget: 8000 }, ["low"]],
    [{ mode: "budget", budget: 8192 }, ["medium"]],
    [{ mode: "budget", budget: 20_000 }, ["high"]],
    [{ mode: "budget", budget: 64_000 }, ["xhigh"]],
  ];
  test.each(cases)("%j", (wish, sent) => expect(effort(wish)).toEqual(sent));

  test("what a model cannot be told is left out and told: no effort, no switch", () => {
    expect(effort({ effort: "high" }, { model: "gpt-4o" })).toEqual([
      undefined,
      "dropped:output_config.effort",
    ]);
    expect(effort({ effort: "high" }, { traits: { reasoningEffort: false } })).toEqual([
      undefined,
      "dropped:output_config.effort",
    ]);
    expect(effort({ mode: "off" }, { model: "gpt-4o" })).toEqual([undefined]);
    expect(effort({ mode: "off" }, { model: "unknown" })).toEqual([undefined, "dropped:thinking"]);
    expect(effort({ mode: "off" }, { model: "gpt-5" })).toEqual(["minimal", "clamped:thinking"]);
    expect(effort({ effort: "xhigh" }, { model: "unknown" })).toEqual([
      "high",
      "clamped:output_config.effort",
    ]);
    expect(effort({ effort: "xhigh" }, { model: "unknown", format: "chat-completions" })).toEqual([
      "high",
      "clamped:reasoning_effort",
    ]);
    expect(effort({ effort: "default" }, { model: "unknown" })).toEqual(["default"]);
  });

  test("the last effort of a turn overrides that of the request", () => {
    const turns: ChatRequest["turns"] = [
      { role: "user", blocks: [{ type: "text", text: "hi" }] },
      { role: "system", blocks: [], effort: "low" },
      { role: "system", blocks: [], effort: "medium" },
    ];
    expect(effort({ mode: "adaptive", effort: "high" }, { model: "gpt-5" }, { turns })).toEqual(["medium"]);
  });

  test("from gpt-5.4 on tools exclude effort on this endpoint (openai/openai-openapi#541)", () => {
    const tools = { tools: [f] };
    expect(effort({ effort: "high" }, { model: "gpt-5.4" }, tools)).toEqual([
      "none",
      "downgraded:output_config.effort",
    ]);
    expect(effort(undefined, { model: "gpt-5.4" }, tools)).toEqual([undefined]);
    expect(effort(undefined, { model: "gpt-5.6-sol" }, tools)).toEqual([
      "none",
      "downgraded:output_config.effort",
    ]);
    expect(effort({ mode: "off" }, { model: "gpt-5.6-sol" }, tools)).toEqual(["none"]);
    expect(effort({ effort: "high" }, { model: "gpt-5.6-sol" })).toEqual(["high"]);
    expect(effort({ effort: "high" }, { model: "openai/gpt-5.6-sol" }, tools)).toEqual(["high"]);
  });

  test("F-51: sampling is dropped for models that reason, unless they are told not to", () => {
    const parts = {
      temperature: 0,
      topP: 0.5,
      extra: { "chat-completions": { frequency_penalty: 1, presence_penalty: 0, seed: 1 } },
    };
    const strict = encode(parts, { model: "gpt-5", format: "chat-completions" });
    expect(strict.body).toEqual({ model: "gpt-5", seed: 1, messages: HI });
    expect(strict.losses).toEqual(["dropped:temperature", "dropped:top_p", "dropped:frequency_penalty"]);
    expect(encode({ temperature: 1, topP: 1 }, { model: "gpt-5" })).toMatchObject({ losses: [] });
    expect(encode({ temperature: 0 }, { model: "gpt-5.2" }).body.temperature).toBe(0);
    expect(encode({ temperature: 0, reasoning: { effort: "low" } }, { model: "gpt-5.2" }).losses).toEqual([
      "dropped:temperature",
    ]);
    expect(encode({ temperature: 0 }, { model: "gpt-5.6-sol" }).losses).toEqual(["dropped:temperature"]);
    expect(encode({ temperature: 0 }, { model: "gpt-5-chat-latest" }).body.temperature).toBe(0);
    expect(encode({ temperature: 1.7 }, { model: "gpt-4o" }).body.temperature).toBe(1.7);
  });
});

describe("answer formats", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const format: AnswerFormat = { type: "json-schema", schema };
  const field = (answerFormat: AnswerFormat, options: CallOptions = {}) =>
    encode({ answerFormat }, options).body.response_format;

  test("a schema has a name, and is strict when it can be", () => {
    expect(field(format)).toEqual({
      type: "json_schema",
      json_schema: { name: "response", schema, strict: true },
    });
    const loose = { ...schema, required: [] };
    expect(field({ ...format, schema: loose })).toMatchObject({ json_schema: { strict: false } });
    expect(field({ ...format, schema: { ...schema, additionalProperties: true } })).toMatchObject({
      json_schema: { strict: false },
    });
    expect(field({ ...format, name: "my schema!" }, { format: "chat-completions" })).toEqual({
      type: "json_schema",
      json_schema: { name: "my_schema_", schema },
    });
    expect(field({ type: "json" })).toEqual({ type: "json_object" });
    expect(field({ type: "text" })).toBeUndefined();
  });

  test("where the provider cannot be bound to a schema it is asked for in the prompt", () => {
    for (const jsonSchema of ["json-object", "prompt"] as const) {
      const { body, messages, losses } = encode({ answerFormat: format }, { traits: { jsonSchema } });
      expect(body.response_format).toEqual(jsonSchema === "prompt" ? undefined : { type: "json_object" });
      expect(messages[0]).toEqual({
        role: "system",
        content: expect.stringContaining(JSON.stringify(schema)),
      } as unknown as JsonObject);
      expect(losses).toEqual(["downgraded:output_config.format"]);
    }
    const turns: ChatRequest["turns"] = [
      { role: "system", blocks: [{ type: "text", text: "S" }] },
      { role: "user", blocks: [{ type: "text", text: "hi" }] },
    ];
    const { messages } = encode(
      { answerFormat: { type: "json" }, turns },
      { traits: { jsonSchema: "prompt" } },
    );
    expect(messages[0]!.content).toStartWith("S\n\n");
    expect(messages).toHaveLength(2);
  });
});

describe("fields without a counterpart", () => {
  test("G-87: those a caller depends on are refused by their name", async () => {
    for (const field of ["container", "mcp_servers", "thread", "compaction", "fallbacks", "inference_geo"]) {
      const error = await failure(() =>
        encode({ extra: { messages: { [field]: field === "mcp_servers" ? [{}] : "us" } } }),
      );
      expect(error).toMatchObject({ kind: "invalid-request", param: field, code: "unsupported_value" });
    }
  });

  test("G-88: those that change the answer are told once, bookkeeping never", () => {
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

  test("G-32, G-33: of this format's own, what the events cannot carry back is refused, the rest is passed on", async () => {
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
    const whole = { model: "m", ...body };
    const sent = encode(decode(whole), { format: "chat-completions", model: "m", provider: "gemini" });
    expect(sent.body).toEqual(whole);
    expect(sent.losses).toEqual([]);
  });
});

describe("models", () => {
  test("names of other hosts have no rules of this endpoint; every rule names levels that exist", () => {
    expect(modelFacts("openai/gpt-5")).toBeUndefined();
    expect(modelFacts("deepseek-chat")).toBeUndefined();
    expect(modelFacts("gpt-4.1-mini")!.efforts).toEqual([]);
    expect(modelFacts("meta-llama/Llama-3.3-70B-Instruct")!.efforts).toEqual([]);
    expect(modelFacts("o1-2024-12-17")!.stop).toBeTrue();
    expect(modelFacts("gpt-5.1-codex-max")!.efforts).toContain("xhigh");
    expect(modelFacts("gpt-6-astra")!.efforts).not.toContain("none");
  });

  test("the nearest level is the next weaker, never none", () => {
    expect(nearestEffort("max", ["low", "high"])).toBe("high");
    expect(nearestEffort("low", ["none", "medium", "high"])).toBe("medium");
    expect(nearestEffort("none", ["low", "high"])).toBe("low");
    expect(nearestEffort("medium", ["high"])).toBe("high");
    expect(nearestEffort("weird", ["low"])).toBe("weird");
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
