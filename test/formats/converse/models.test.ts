/** Facts are found by the id of a model, of an inference profile, or by an ARN that contains one. */
import { expect, test } from "bun:test";
import { modelFacts } from "../../../src/formats/converse/models.ts";

const SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0";

test("Claude is known by every way to name it", () => {
  const arn = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.${SONNET}`;
  for (const name of [SONNET, `us.${SONNET}`, `global.${SONNET}`, arn])
    expect(modelFacts(name)).toMatchObject({
      replay: "signed",
      schemas: true,
      claude: { maxTokens: 64_000 },
    });
});

test("Bedrock compiles schemas for Claude 4.5 and 4.6 alone", () => {
  const compiles = (name: string) => modelFacts(`us.anthropic.claude-${name}`).schemas;
  expect(["opus-4-5-20251101-v1:0", "haiku-4-5-20251001-v1:0", "sonnet-4-6"].map(compiles)).toEqual([
    true,
    true,
    true,
  ]);
  expect(
    ["sonnet-4-20250514-v1:0", "3-haiku-20240307-v1:0", "opus-4-8", "opus-5-5"].map(compiles),
  ).not.toContain(true);
});

test("the first Claude models take no thinking and cannot be forced to call a tool", () => {
  for (const name of ["anthropic.claude-v2", "anthropic.claude-v2:1", "anthropic.claude-instant-v1"])
    expect(modelFacts(name)).toMatchObject({ forcedTools: false, claude: { thinking: [], maxTokens: 4096 } });
});

test.each([
  ["us.amazon.nova-2-lite-v1:0", "nova", "text"],
  ["amazon.nova-pro-v1:0", "none", "text"],
  ["openai.gpt-oss-20b-1:0", "effort", "sealed"],
  ["qwen.qwen3-32b-v1:0", "config", "text"],
  ["us.meta.llama4-maverick-17b-instruct-v1:0", "none", "text"],
  ["us.deepseek.r1-v1:0", "unknown", "text"],
  ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", "unknown", "text"],
] as const)("%s", (name, reasoning, replay) => {
  expect(modelFacts(name)).toMatchObject({ reasoning, replay });
});
