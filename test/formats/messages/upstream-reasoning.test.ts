import { describe, expect, test } from "bun:test";
import type { ChatRequest, ReasoningOptions } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode } from "./make.ts";

describe("reasoning", () => {
  const wish = (reasoning: ReasoningOptions | undefined, model: string, parts: Partial<ChatRequest> = {}) => {
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

  test("a budget is at least 1024 and below the limit, or there is none", () => {
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

  test("off is disabled where that is allowed, else the least there is, told", () => {
    const off: ReasoningOptions = { mode: "off", effort: "none" };
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

  test("no budget behind a tool call whose reasoning is missing; with it, kept", () => {
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
    const own = (reasoning: ReasoningOptions, model: string) => {
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

  test("clearing of thinking goes with the thinking, other edits stay", () => {
    const edits = [{ type: "clear_thinking_20251015" }, { type: "clear_tool_uses_20250919" }];
    const edited = (list: JsonObject[], toolChoice?: ChatRequest["toolChoice"]) =>
      encode(
        {
          reasoning: { mode: "budget", budget: 2000 },
          tools: [{ kind: "function", name: "f" }],
          toolChoice,
          extra: { messages: { context_management: { edits: list } } },
        },
        { model: "claude-sonnet-4-5", format: "messages" },
      ).body.context_management as unknown;
    expect(edited(edits)).toEqual({ edits });
    expect(edited(edits, { type: "required" })).toEqual({ edits: edits.slice(1) });
    expect(edited(edits.slice(0, 1), { type: "required" })).toBeUndefined();
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
