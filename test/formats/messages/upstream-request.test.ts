import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
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

  test("temperature is cut at 1, not scaled, and told", () => {
    expect(fields({ temperature: 1.7 })).toEqual({
      rest: { temperature: 1 },
      losses: ["clamped:temperature"],
    });
    expect(fields({ temperature: 0 })).toEqual({ rest: { temperature: 0 }, losses: [] });
  });

  test("models that sample by themselves get none of it, and it is told", () => {
    expect(fields({ temperature: 1.7, topP: 0.5, topK: 3 }, { model: "claude-opus-4-7" })).toEqual({
      rest: {},
      losses: ["dropped:temperature", "dropped:top_p", "dropped:top_k"],
    });
  });

  test("of temperature and top_p only the first", () => {
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

  test("stop is a list; blank ones go, told in the client's word", () => {
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
  test("what could be a person is hashed, the same for the same user", () => {
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
    ["standard", { service_tier: "standard_only" }, []],
    ["flex", { service_tier: "standard_only" }, ["converted:service_tier"]],
    ["priority", { service_tier: "auto" }, []],
    ["scale", { service_tier: "auto" }, []],
    ["fast", {}, ["dropped:service_tier"]],
    ["golden", {}, ["dropped:service_tier"]],
  ];
  test("verbosity is dropped and told", () =>
    expect(fields({ verbosity: "low", paths: { verbosity: "text.verbosity" } }).losses).toEqual([
      "dropped:text.verbosity",
    ]));

  for (const [serviceTier, rest, losses] of TIERS)
    test(`service tier ${serviceTier}`, () => expect(fields({ serviceTier })).toEqual({ rest, losses }));
});

describe("fields of chat-completions only", () => {
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
    test(`${field} is refused by name`, async () => {
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
    ["moderation", { model: "m" }],
  ];
  for (const [field, value] of TOLD)
    test(`${field} is dropped and told`, () =>
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
    ["constructor", 1],
    ["toString", { a: 1 }],
  ];
  for (const [field, value] of SILENT)
    test(`${field} ${JSON.stringify(value)} is dropped silently`, () => {
      const { losses, body } = only(field, value);
      expect(losses).toEqual([]);
      expect(Object.keys(body)).not.toContain(field);
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
