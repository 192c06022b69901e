import { expect, test } from "bun:test";
import { defaultMaxTokens, modelFacts } from "../../../src/formats/messages/models.ts";

const NAMES: [string, string][] = [
  ["claude-opus-4-5-20251101", "claude-opus-4-5"],
  ["claude-sonnet-4-20250514", "claude-sonnet-4"],
  ["anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"],
  ["claude-haiku-4-5@20251001", "claude-haiku-4-5"],
  ["anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"],
  ["Claude-Opus-5.5", "claude-opus-5-5"],
  ["claude-3-5-sonnet-20241022", "claude-3-5-sonnet-latest"],
  ["claude-3-opus-20240229", "claude-3-opus"],
  ["claude-opus-5-20260724", "claude-opus-5"],
];
for (const [name, plain] of NAMES)
  test(`${name} is ${plain}`, () => expect(modelFacts(name)).toBe(modelFacts(plain)));

test("neighbours are told apart", () => {
  expect(modelFacts("claude-opus-4-1").maxTokens).toBe(32_000);
  expect(modelFacts("claude-opus-4-5").maxTokens).toBe(64_000);
  expect(modelFacts("claude-opus-4").schemas).toBe(false);
  expect(modelFacts("claude-opus-4-1").schemas).toBe(true);
  expect(modelFacts("claude-fable-5").forcedTools).toBe(true);
  expect(modelFacts("claude-fable-5-1").forcedTools).toBe(false);
  expect(modelFacts("claude-opus-4-7").systemTurns).toBe(false);
  expect(modelFacts("claude-opus-4-8").systemTurns).toBe(true);
});

test("a Claude nobody knows counts as current", () => {
  for (const name of ["claude-opus-4-9", "claude-saga-6", "claude-opus-55", "my-claude"])
    expect(modelFacts(name)).toBe(modelFacts("claude-opus-5-5"));
});

test("the newest take adaptive thinking only, no knobs and no force", () => {
  expect(modelFacts("claude-opus-5-5")).toMatchObject({
    thinking: ["adaptive"],
    sampling: false,
    forcedTools: false,
    prefill: false,
  });
});

test("models of other vendors are assumed to refuse nothing", () => {
  const facts = modelFacts("deepseek-chat");
  expect(facts).toMatchObject({ claude: false, sampling: true, forcedTools: true, prefill: true });
  expect(defaultMaxTokens(facts)).toBe(8192);
});
