import { describe, expect, test } from "bun:test";
import type { ChatRequest, ReasoningWish } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { encode, failure } from "./make.ts";

const HAIKU = { model: "claude-haiku-4-5" };

function fields(parts: Partial<ChatRequest>, options: Parameters<typeof encode>[1] = HAIKU) {
  const { body, losses } = encode(parts, options);
  const { model, messages, max_tokens, ...rest } = body;
  return { rest, losses };
}

describe("limits and sampling", () => {
  test("the limit: the client's, the model's, or as much as the model gives", () => {
    expect(encode({ maxTokens: 5 }, HAIKU).body.max_tokens).toBe(5);
    expect(encode({}, HAIKU).body.max_tokens).toBe(64_000);
    expect(encode({}, { model: "claude-opus-5-5" }).body.max_tokens).toBe(128_000);
    expect(encode({}, { model: "kimi-k3" }).body.max_tokens).toBe(8192);
    const over = encode({ maxTokens: 100_000 }, { model: "claude-3-5-haiku-latest" });
    expect(over.body.max_tokens).toBe(8192);
    expect(over.losses).toEqual(["clamped:max_tokens"]);
    expect(encode({ maxTokens: 100_000 }, { model: "kimi-k3" }).losses).toEqual([]);
  });

  test("G-69: temperature is cut at 1, not scaled, and told", () => {
    expect(fields({ temperature: 1.7 })).toEqual({
      rest: { temperature: 1 },
      losses: ["clamped:temperature"],
    });
    expect(fields({ temperature: 0 })).toEqual({ rest: { temperature: 0 }, losses: [] });
  });

  test("G-69, F-51: models that sample by themselves get none of it, and it is told", () => {
    expect(fields({ temperature: 1.7, topP: 0.5, topK: 3 }, { model: "claude-opus-4-7" })).toEqual({
      rest: {},
      losses: ["dropped:temperature", "dropped:top_p", "dropped:top_k"],
    });
  });

  test("G-70: of temperature and top_p only the first", () => {
    expect(fields({ temperature: 0.5, topP: 0.9, topK: 7 })).toEqual({
      rest: { temperature: 0.5, top_k: 7 },
      losses: ["dropped:top_p"],
    });
    expect(fields({ temperature: 0.5, topP: 0.9 }, { model: "kimi-k3" }).rest).toEqual({
      temperature: 0.5,
      top_p: 0.9,
    });
  });

  test("while it thinks a model takes a top_p near 1 and nothing else", () => {
    const told = fields({
      temperature: 0.2,
      topP: 0.97,
      topK: 5,
      reasoning: { effort: "low" },
      maxTokens: 9000,
    });
    expect(told.rest).toMatchObject({ top_p: 0.97 });
    expect(told.losses).toEqual(["dropped:temperature", "dropped:top_k"]);
    expect(fields({ topP: 0.5, reasoning: { effort: "low" } }).losses).toEqual(["dropped:top_p"]);
  });

  test("F-67: stop is a list; blank ones go, told in the client's word", () => {
    expect(fields({ stop: ["END"] })).toEqual({ rest: { stop_sequences: ["END"] }, losses: [] });
    expect(fields({ stop: ["\n", "END"] })).toEqual({
      rest: { stop_sequences: ["END"] },
      losses: ["dropped:stop"],
    });
    expect(fields({ stop: [" "] }, { format: "messages" })).toEqual({
      rest: {},
      losses: ["dropped:stop_sequences"],
    });
  });

  test("stream", () => {
    expect(fields({ stream: true }).rest).toEqual({ stream: true });
    expect(fields({ stream: false }).rest).toEqual({});
  });
});

describe("identity and tier", () => {
  test("F-85, G-84: what could be a person is hashed, the same for the same user", () => {
    expect(fields({ user: "user_42" }).rest).toEqual({ metadata: { user_id: "user_42" } });
    const hashed = fields({ user: "ann@example.org" }).rest.metadata as JsonObject;
    expect(hashed.user_id).toMatch(/^[0-9a-f]{64}$/);
    expect(fields({ user: "ann@example.org" }).rest.metadata as JsonObject).toEqual(hashed);
    expect(fields({ user: "ann@example.org" }, { format: "messages" }).rest).toEqual({
      metadata: { user_id: "ann@example.org" },
    });
  });

  const TIERS: [string, JsonObject, string[]][] = [
    ["auto", {}, []],
    ["default", { service_tier: "standard_only" }, []],
    ["standard_only", { service_tier: "standard_only" }, []],
    ["flex", { service_tier: "standard_only" }, ["converted:service_tier"]],
    ["priority", { service_tier: "auto" }, []],
    ["scale", { service_tier: "auto" }, []],
    ["fast", {}, ["dropped:service_tier"]],
    ["golden", {}, ["dropped:service_tier"]],
  ];
  for (const [serviceTier, rest, losses] of TIERS)
    test(`service tier ${serviceTier}`, () => expect(fields({ serviceTier })).toEqual({ rest, losses }));
});

describe("fields of chat-completions only (contract E.11)", () => {
  const only = (field: string, value: Json) =>
    encode({ extra: { "chat-completions": { [field]: value } } }, HAIKU);

  const REFUSED: [string, Json][] = [
    ["n", 2],
    ["logprobs", true],
    ["top_logprobs", 3],
    ["modalities", ["text", "audio"]],
    ["audio", { voice: "x" }],
    ["web_search_options", {}],
    ["moderation", { model: "m", policy: { output: { mode: "block" } } }],
  ];
  for (const [field, value] of REFUSED)
    test(`G-32, G-33: ${field} is refused by name`, async () => {
      expect(await failure(() => only(field, value))).toMatchObject({
        kind: "invalid-request",
        status: 400,
        code: "unsupported_value",
        param: field,
      });
    });

  const TOLD: [string, Json][] = [
    ["logit_bias", { "5": 1 }],
    ["seed", 1],
    ["frequency_penalty", 0.5],
    ["presence_penalty", -1],
    ["verbosity", "low"],
    ["moderation", { model: "m" }],
  ];
  for (const [field, value] of TOLD)
    test(`G-88: ${field} is dropped and told`, () =>
      expect(only(field, value).losses).toEqual([`dropped:${field}`]));

  const SILENT: [string, Json][] = [
    ["n", 1],
    ["logprobs", false],
    ["top_logprobs", 0],
    ["modalities", ["text"]],
    ["logit_bias", {}],
    ["frequency_penalty", 0],
    ["presence_penalty", 0],
    ["seed", null],
    ["store", true],
    ["metadata", { a: "b" }],
    ["prediction", { type: "content", content: "x" }],
    ["future_field", 1],
  ];
  for (const [field, value] of SILENT)
    test(`G-88: ${field} ${JSON.stringify(value)} is dropped silently`, () => {
      const { losses, body } = only(field, value);
      expect(losses).toEqual([]);
      expect(body).not.toHaveProperty(field);
    });
});

test("fields of this format pass on to it, by their own names", () => {
  const extra = {
    messages: {
      container: "c",
      future: 1,
      thinking: { type: "dreaming" },
      output_config: { task_budget: { total: 1 } },
      metadata: { t: "x" },
    },
  };
  expect(
    fields(
      { extra, user: "u", reasoning: { effort: "low" } },
      { model: "claude-opus-4-8", format: "messages" },
    ).rest,
  ).toEqual({
    container: "c",
    future: 1,
    thinking: { type: "dreaming" },
    output_config: { effort: "low", task_budget: { total: 1 } },
    metadata: { t: "x", user_id: "u" },
  });
});

describe("reasoning (contract E.1.2)", () => {
  const wish = (reasoning: ReasoningWish | undefined, model: string, parts: Partial<ChatRequest> = {}) => {
    const { body, losses } = encode({ reasoning, ...parts }, { model });
    return { thinking: body.thinking as unknown, output: body.output_config as unknown, losses };
  };
  const nothing = { thinking: undefined, output: undefined, losses: [] };
  const summarized = { type: "adaptive", display: "summarized" };

  test("no wish, no field", () => {
    for (const model of ["claude-opus-5-5", "claude-sonnet-4-5", "kimi-k3"])
      expect(wish(undefined, model)).toEqual(nothing);
  });

  test("an effort on adaptive models, shown where they would hide it", () => {
    expect(wish({ effort: "high" }, "claude-opus-5-5")).toEqual({
      thinking: summarized,
      output: { effort: "high" },
      losses: [],
    });
    expect(wish({ effort: "high" }, "claude-opus-4-6").thinking).toEqual({ type: "adaptive" });
    expect(wish({ effort: "high" }, "claude-opus-5-5", { style: { hideReasoning: true } }).thinking).toEqual({
      type: "adaptive",
    });
    expect(wish({ effort: "minimal" }, "claude-opus-5-5").output).toEqual({ effort: "low" });
    expect(wish({ mode: "adaptive" }, "claude-opus-5-5")).toEqual({
      thinking: summarized,
      output: undefined,
      losses: [],
    });
  });

  test("what a model does not reach is clamped and told", () => {
    expect(wish({ effort: "xhigh" }, "claude-opus-4-6")).toEqual({
      thinking: { type: "adaptive" },
      output: { effort: "high" },
      losses: ["clamped:reasoning_effort"],
    });
    expect(wish({ effort: "max" }, "claude-opus-4-6").output).toEqual({ effort: "max" });
  });

  test("budgets for models that take one", () => {
    const budget = (effort: string) =>
      (wish({ effort }, "claude-sonnet-4-5").thinking as JsonObject).budget_tokens;
    expect(["minimal", "low", "medium", "high", "xhigh", "max"].map(budget)).toEqual([
      1024, 4096, 10_000, 16_000, 32_000, 32_000,
    ]);
    expect(wish({ mode: "budget", budget: 5000 }, "claude-sonnet-4-5").thinking).toEqual({
      type: "enabled",
      budget_tokens: 5000,
    });
    expect(wish({ mode: "budget", budget: 5 }, "claude-sonnet-4-5").thinking).toEqual({
      type: "enabled",
      budget_tokens: 1024,
    });
  });

  test("a budget becomes the nearest effort where only efforts are taken", () => {
    const effort = (budget: number) =>
      (wish({ mode: "budget", budget }, "claude-opus-4-8").output as JsonObject).effort;
    expect([1024, 2048, 8191, 8192, 24_575, 24_576].map(effort)).toEqual([
      "low",
      "medium",
      "medium",
      "high",
      "high",
      "xhigh",
    ]);
  });

  test("G-71: a budget is at least 1024 and below the limit, or there is none", () => {
    for (const effort of ["minimal", "low", "medium", "high", "xhigh", "max"])
      for (const maxTokens of [
        1, 1024, 1279, 1280, 1281, 2000, 5000, 12_499, 12_500, 20_000, 40_000, 63_999, 64_000,
      ]) {
        const { thinking, losses } = wish({ effort }, "claude-sonnet-4-5", { maxTokens });
        if (maxTokens < 1280) {
          expect(thinking).toBeUndefined();
          expect(losses).toEqual(["dropped:reasoning_effort"]);
          continue;
        }
        const { budget_tokens } = thinking as { budget_tokens: number };
        expect(budget_tokens).toBeGreaterThanOrEqual(1024);
        expect(budget_tokens).toBeLessThanOrEqual(0.8 * maxTokens);
      }
  });

  test("G-72: off is disabled where that is allowed, else the least there is, told", () => {
    const off: ReasoningWish = { mode: "off", effort: "none" };
    expect(wish(off, "claude-opus-5")).toEqual({ ...nothing, thinking: { type: "disabled" } });
    expect(wish(off, "claude-opus-4-8")).toEqual({ ...nothing, thinking: { type: "disabled" } });
    expect(wish(off, "claude-opus-5-5")).toEqual({
      ...nothing,
      output: { effort: "low" },
      losses: ["downgraded:reasoning_effort"],
    });
    expect(wish(off, "claude-sonnet-5-5")).toEqual({
      ...nothing,
      thinking: { type: "between_tools" },
      losses: ["downgraded:reasoning_effort"],
    });
    expect(wish(off, "claude-sonnet-4-5")).toEqual(nothing);
    expect(wish(off, "claude-3-5-haiku-latest")).toEqual(nothing);
    expect(wish(off, "claude-tomorrow-7")).toMatchObject({ output: { effort: "low" } });
  });

  test("models from before reasoning say so", () => {
    expect(wish({ mode: "adaptive" }, "claude-3-5-haiku-latest")).toEqual({
      ...nothing,
      losses: ["dropped:reasoning_effort"],
    });
  });

  test("F-44, G-75: no budget behind a tool call whose reasoning is missing; with it, kept", () => {
    const turns = (first: boolean): ChatRequest["turns"] => [
      { role: "user", blocks: [{ type: "text", text: "q" }] },
      {
        role: "assistant",
        blocks: [
          ...(first ? [{ type: "reasoning", text: "r", signature: "S", origin: "anthropic" } as const] : []),
          { type: "tool-call", id: "a", name: "f", input: "{}", kind: "function" },
        ],
      },
      { role: "user", blocks: [{ type: "tool-result", id: "a", blocks: [] }] },
    ];
    const unsigned = wish({ effort: "low" }, "claude-sonnet-4-5", { turns: turns(false) });
    expect(unsigned).toEqual({ ...nothing, losses: ["dropped:reasoning_effort"] });
    expect(wish({ effort: "low" }, "claude-sonnet-4-5", { turns: turns(true) }).thinking).toMatchObject({
      type: "enabled",
    });
    expect(wish({ effort: "low" }, "claude-opus-4-8", { turns: turns(false) }).thinking).toEqual(summarized);
  });

  test("a client of this format means what it says: effort without thinking, its budget, its display", () => {
    const own = (reasoning: ReasoningWish, model: string) => {
      const { body, losses } = encode({ reasoning, maxTokens: 4000 }, { model, format: "messages" });
      return { thinking: body.thinking as unknown, output: body.output_config as unknown, losses };
    };
    expect(own({ effort: "medium" }, "claude-opus-4-8")).toEqual({
      ...nothing,
      output: { effort: "medium" },
    });
    expect(own({ mode: "budget", budget: 3900 }, "claude-opus-4-6").thinking).toEqual({
      type: "enabled",
      budget_tokens: 3900,
    });
    expect(own({ mode: "adaptive", display: "omitted" }, "claude-opus-4-8").thinking).toEqual({
      type: "adaptive",
      display: "omitted",
    });
    expect(own({ mode: "budget", budget: 3000 }, "claude-opus-4-8")).toEqual({
      thinking: { type: "adaptive" },
      output: { effort: "medium" },
      losses: ["converted:thinking"],
    });
    expect(own({ mode: "off", effort: "max" }, "claude-opus-5")).toEqual({
      thinking: { type: "disabled" },
      output: { effort: "high" },
      losses: ["clamped:output_config.effort"],
    });
  });

  test("the binding of the newest models is loosened only where the provider knows how", () => {
    const traits = { blockBinding: true };
    const binding = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
    expect(
      encode({ reasoning: { effort: "low" } }, { model: "claude-opus-5-5", traits }).body.thinking,
    ).toEqual({ ...summarized, ...binding });
    expect(encode({}, { model: "claude-opus-5-5", traits }).body.thinking).toEqual({
      type: "adaptive",
      ...binding,
    });
    expect(encode({}, { model: "claude-opus-4-8", traits }).body.thinking).toBeUndefined();
    expect(encode({}, { model: "claude-opus-5-5" }).body.thinking).toBeUndefined();
  });
});

describe("answers with a schema (contract E.1.5)", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { a: { type: "integer", minimum: 1 } },
    required: ["a"],
  };
  const wish = { type: "json-schema", name: "x", schema } as const;

  test("F-43, G-76: the native way, without a tool, where the model has it", () => {
    for (const model of ["claude-opus-5-5", "claude-sonnet-4-5", "claude-opus-4-1"]) {
      const { body, losses } = encode({ answerFormat: wish }, { model });
      expect(body.output_config).toEqual({
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { a: { type: "integer", description: "{minimum: 1}" } },
            required: ["a"],
            additionalProperties: false,
          },
        },
      });
      expect(body).not.toHaveProperty("tools");
      expect(losses).toEqual(["converted:response_format"]);
    }
  });

  test("else through a tool: forced when it is alone and may be, else asked for", () => {
    const alone = encode({ answerFormat: wish }, { model: "kimi-k3" });
    expect(alone.body).toMatchObject({
      tools: [{ name: "respond", input_schema: schema }],
      tool_choice: { type: "tool", name: "respond" },
    });
    expect(alone.losses).toEqual(["downgraded:response_format"]);
    const among = encode(
      { answerFormat: wish, tools: [{ kind: "function", name: "f" }] },
      { model: "kimi-k3" },
    );
    expect(among.body).not.toHaveProperty("tool_choice");
    expect((among.body.tools as JsonObject[]).map(({ name }) => name)).toEqual(["f", "respond"]);
    expect(JSON.stringify(among.body.system)).toContain("calling the tool respond");
  });

  test("else by asking: the provider's trait, or a tool of that name", () => {
    const asked = encode({ answerFormat: wish }, { model: "kimi-k3", traits: { jsonSchema: "prompt" } });
    expect(asked.body).not.toHaveProperty("tools");
    expect(JSON.stringify(asked.body.system)).toContain("follows this JSON schema");
    const taken = encode(
      { answerFormat: wish, tools: [{ kind: "function", name: "respond" }] },
      { model: "kimi-k3" },
    );
    expect(taken.body.tools).toHaveLength(1);
  });

  test("a schema that refers to itself cannot be compiled", () => {
    const recursive: JsonObject = {
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } },
      $ref: "#/$defs/n",
    };
    const { body } = encode(
      { answerFormat: { type: "json-schema", schema: recursive } },
      { model: "claude-opus-5-5" },
    );
    expect(body).not.toHaveProperty("output_config");
    expect(body.tools).toMatchObject([{ name: "respond" }]);
    expect(body).not.toHaveProperty("tool_choice");
  });

  test("plain JSON is asked for, and told; text is what it is anyway", () => {
    expect(fields({ answerFormat: { type: "json" } })).toEqual({
      rest: { system: [{ type: "text", text: "Respond with one JSON object only." }] },
      losses: ["downgraded:response_format"],
    });
    expect(fields({ answerFormat: { type: "text" } })).toEqual({ rest: {}, losses: [] });
  });
});

describe("caching (contract E.1.6)", () => {
  const mark = (ttl?: "5m" | "1h") => ({ cache: ttl ? { ttl } : {} });
  const text = (value: string, ttl?: "5m" | "1h") => ({ type: "text", text: value, ...mark(ttl) }) as const;
  const marks = (body: JsonObject) =>
    [...JSON.stringify(body).matchAll(/"cache_control":(\{[^}]*\})/g)].map(
      ([, found]) => JSON.parse(found!) as JsonObject,
    );

  test("F-90: marks on parts arrive", () => {
    const { body } = encode({ turns: [{ role: "user", blocks: [text("a", "1h")] }] }, HAIKU);
    expect(marks(body)).toEqual([{ type: "ephemeral", ttl: "1h" }]);
  });

  test("G-85: of more than four the last four stay, and none lives longer than those in front", () => {
    const blocks = ["a", "b", "c", "d", "e", "f"].map((value, index) =>
      text(value, index === 4 ? "1h" : undefined),
    );
    const { body } = encode({ turns: [{ role: "user", blocks }] }, HAIKU);
    expect(marks(body)).toEqual([
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral" },
    ]);
    const first = (body.messages as JsonObject[])[0]!.content as JsonObject[];
    expect(first.slice(0, 2).some(({ cache_control }) => cache_control)).toBe(false);
  });

  test("as much as can be: one mark at the top where the provider takes it", () => {
    const { body } = encode({ cache: {} }, { ...HAIKU, traits: { topLevelCacheControl: true } });
    expect(body.cache_control).toEqual({ type: "ephemeral" });
    expect(marks(body)).toHaveLength(1);
    const four = ["a", "b", "c", "d"].map((value) => text(value));
    const own = encode(
      { cache: { ttl: "1h" }, turns: [{ role: "user", blocks: four }] },
      { ...HAIKU, format: "messages" },
    ).body;
    expect(marks(own)).toHaveLength(4);
    expect(own.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  });

  test("elsewhere the last tool, the last system block and the user's last block", () => {
    const { body } = encode(
      {
        cache: {},
        tools: [
          { kind: "function", name: "f" },
          { kind: "function", name: "g" },
        ],
        turns: [
          { role: "system", blocks: [{ type: "text", text: "s" }] },
          {
            role: "user",
            blocks: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
      HAIKU,
    );
    expect(body).not.toHaveProperty("cache_control");
    expect((body.tools as JsonObject[]).map(({ cache_control }) => cache_control !== undefined)).toEqual([
      false,
      true,
    ]);
    expect((body.system as JsonObject[])[0]!.cache_control).toEqual({ type: "ephemeral" });
    expect(
      ((body.messages as JsonObject[])[0]!.content as JsonObject[]).map(
        ({ cache_control }) => cache_control !== undefined,
      ),
    ).toEqual([false, true]);
  });

  test("models of other vendors are not marked unasked", () => {
    expect(marks(encode({ cache: {} }, { model: "kimi-k3" }).body)).toEqual([]);
  });

  test("G-85: none on reasoning", () => {
    const turns: ChatRequest["turns"] = [
      { role: "user", blocks: [{ type: "text", text: "q" }] },
      { role: "assistant", blocks: [{ type: "reasoning", text: "r", signature: "S", origin: "anthropic" }] },
      { role: "user", blocks: [{ type: "text", text: "q" }] },
    ];
    const { body } = encode({ turns, cache: {} }, { model: "claude-opus-4-8" });
    expect((body.messages as JsonObject[])[1]!.content).toEqual([
      { type: "thinking", thinking: "r", signature: "S" },
    ]);
  });
});
