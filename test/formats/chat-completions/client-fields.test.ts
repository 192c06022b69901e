import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { decode } from "./make.ts";

describe("tools", () => {
  test("functions, custom tools and tools nobody knows", () => {
    const namespace = { type: "namespace", name: "ns", tools: [] };
    const { tools } = decode({
      tools: [
        {
          type: "function",
          function: { name: "f", description: "d", parameters: { type: "object" }, strict: true, extra: 1 },
        },
        { type: "custom", custom: { name: "c", format: { type: "text" } } },
        namespace,
        { function: { name: "g" }, cache_control: { type: "ephemeral" } },
      ],
    });
    expect(tools).toEqual([
      {
        kind: "function",
        name: "f",
        description: "d",
        parameters: { type: "object" },
        strict: true,
        format: "chat-completions",
        value: { extra: 1 },
      },
      { kind: "custom", name: "c", format: "chat-completions", value: { format: { type: "text" } } },
      { kind: "foreign", name: "ns", format: "chat-completions", value: namespace },
      { kind: "function", name: "g", cache: {} },
    ]);
  });

  test("the grammar of a custom tool is read in both of its forms", () => {
    const grammar = { syntax: "lark", definition: "start: x" };
    const grammarOf = (format: JsonObject) =>
      decode({ tools: [{ type: "custom", custom: { name: "c", format } }] }).tools[0]!.grammar;
    expect(grammarOf({ type: "grammar", grammar })).toEqual(grammar);
    expect(grammarOf({ type: "grammar", ...grammar })).toEqual(grammar);
    expect(grammarOf({ type: "text" })).toBeUndefined();
  });

  test("a list of unknown tool types is no reason to refuse", () => {
    expect(
      decode({ tools: [{ type: "web_search" }, { type: "tool_search", execution: "client" }] }).tools,
    ).toHaveLength(2);
  });

  const choices: [choice: unknown, expected: ChatRequest["toolChoice"]][] = [
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    ["any", { type: "required" }],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f" },
    ],
    [
      { type: "custom", custom: { name: "c" } },
      { type: "tool", name: "c" },
    ],
    [
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
      { type: "allowed", names: ["f"], required: true },
    ],
  ];
  test.each(choices)("tool_choice %j", (tool_choice, expected) => {
    expect(decode({ tool_choice: tool_choice as JsonObject, parallel_tool_calls: false })).toMatchObject({
      toolChoice: expected!,
      parallelToolCalls: false,
    });
  });

  test("a choice nobody knows travels on for upstreams of this format", () => {
    const request = decode({ tool_choice: { type: "web_search" } });
    expect(request.toolChoice).toBeUndefined();
    expect(request.extra["chat-completions"]).toEqual({ tool_choice: { type: "web_search" } });
  });
});

describe("top-level fields", () => {
  test("both limits: the newer field wins; stop becomes a list", () => {
    expect(decode({ max_tokens: 5, max_completion_tokens: 7, stop: "END" })).toMatchObject({
      maxTokens: 7,
      stop: ["END"],
    });
    expect(decode({ max_tokens: 5, stop: ["a", "b"] })).toMatchObject({ maxTokens: 5, stop: ["a", "b"] });
    expect(decode({ stop: null, stream: null })).toMatchObject({ stop: [], stream: false });
  });

  test("identity and session", () => {
    expect(decode({ user: "u", prompt_cache_key: "k", service_tier: "flex" })).toMatchObject({
      user: "u",
      session: "k",
      serviceTier: "flex",
    });
    expect(decode({ user: "u", safety_identifier: "s" }).user).toBe("s");
  });

  const wishes: [body: JsonObject, expected: ChatRequest["reasoning"]][] = [
    [{}, undefined],
    [{ reasoning_effort: "high" }, { effort: "high" }],
    [{ reasoning_effort: "none" }, { mode: "off", effort: "none" }],
    [{ reasoning: { effort: "low" }, reasoning_effort: "high" }, { effort: "low" }],
    [{ reasoning: { max_tokens: 500 } }, { mode: "budget", budget: 500 }],
    [{ reasoning: { enabled: false } }, { mode: "off" }],
    [{ reasoning: { enabled: true } }, { mode: "adaptive" }],
    [{ thinking: { type: "enabled", budget_tokens: 2000 } }, { mode: "budget", budget: 2000 }],
    [{ thinking: { type: "enabled" } }, { mode: "adaptive" }],
    [{ thinking: { type: "disabled" }, reasoning_effort: "high" }, { mode: "off" }],
    [
      { thinking: { type: "adaptive", display: "omitted" }, reasoning_effort: "max" },
      { mode: "adaptive", display: "omitted", effort: "max" },
    ],
    [{ enable_thinking: false }, { mode: "off" }],
  ];
  test.each(wishes)("the wish to think in %j", (body, expected) =>
    expect(decode(body).reasoning).toEqual(expected),
  );

  test("answer formats", () => {
    expect(decode({ response_format: { type: "text" } }).answerFormat).toEqual({ type: "text" });
    expect(decode({ response_format: { type: "json_object" } }).answerFormat).toEqual({ type: "json" });
    expect(
      decode({
        response_format: {
          type: "json_schema",
          json_schema: { name: "n", schema: { type: "object" }, strict: true },
        },
      }).answerFormat,
    ).toEqual({
      type: "json-schema",
      name: "n",
      schema: { type: "object" },
      strict: true,
    });
    expect(decode({ response_format: { type: "grammar", value: "x" } }).extra["chat-completions"]).toEqual({
      response_format: { type: "grammar", value: "x" },
    });
  });

  test("caching is what OpenAI does by itself, unless the client marks its prompt or asks for marks only", () => {
    expect(decode({}).cache).toEqual({});
    expect(decode({ prompt_cache_retention: "24h" }).cache).toEqual({ ttl: "1h" });
    expect(decode({ prompt_cache_options: { mode: "explicit" } }).cache).toBeUndefined();
    expect(
      decode({
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "x", prompt_cache_breakpoint: { mode: "explicit" } }],
          },
        ],
      }).cache,
    ).toBeUndefined();
    expect(decode({ cache_control: { type: "ephemeral", ttl: "1h" } }).cache).toEqual({ ttl: "1h" });
  });

  test("what has no canonical place travels by its own name, nulls and the canonical fields do not", () => {
    const body = JSON.parse(
      '{"seed":1,"logit_bias":null,"n":2,"top_k":3,"user":"u","min_p":0.1,"__proto__":{"polluted":true}}',
    ) as JsonObject;
    const { extra, topK } = decode(body);
    expect(Object.keys(extra["chat-completions"]!)).toEqual(["seed", "n", "min_p", "__proto__"]);
    expect(({} as JsonObject).polluted).toBeUndefined();
    expect(topK).toBe(3);
    expect(decode({}).extra).toEqual({});
  });

  test("how the answer is to be written", () => {
    expect(decode({ stream: true, stream_options: { include_usage: true } }).style).toEqual({
      includeUsage: true,
    });
    expect(decode({ reasoning: { exclude: true } }).style).toEqual({ hideReasoning: true });
    expect(decode({}).style).toEqual({});
  });
});
