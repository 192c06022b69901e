import { describe, expect, test } from "bun:test";
import type { ChatRequest, ReasoningOptions, Tool } from "../../../src/core/chat.ts";
import { type CallOptions, encode } from "./make.ts";

const f: Tool = { kind: "function", name: "f" };
const HI = [{ role: "user", content: "hi" }];

describe("reasoning options become an effort that the model knows", () => {
  const effort = (
    reasoning: ReasoningOptions | undefined,
    options: CallOptions = { model: "gpt-5.2" },
    parts: Partial<ChatRequest> = {},
  ) => {
    const { body, losses } = encode({ reasoning, ...parts }, options);
    return [body.reasoning_effort, ...losses];
  };

  const cases: [wish: ReasoningOptions | undefined, sent: (string | undefined)[]][] = [
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

  test("sampling is dropped for models that reason, unless they are told not to", () => {
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
