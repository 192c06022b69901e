/** Fields that LiteLLM adds to the requests of a model become settings of the model. */
import { expect, test } from "bun:test";
import { parse, stringify } from "yaml";
import { importText } from "./imported.ts";

const entry = (name: string, params: object) => ({
  model_name: name,
  litellm_params: { model: "openai/gpt-4o", api_key: "os.environ/OPENAI_API_KEY", ...params },
});

function modelsOf(list: readonly object[]) {
  const { yaml, outcomes } = importText("litellm", stringify({ model_list: list }));
  const { models } = parse(yaml) as { models?: unknown };
  const lost = outcomes.filter(({ fate }) => fate === "none").map(({ path }) => path);
  return { models, lost };
}

test("each field has its option", () => {
  const fields = { temperature: 0.3, top_p: 0.9, max_tokens: 500, reasoning_effort: "high" };
  const { models, lost } = modelsOf([entry("thinker", fields), entry("plain", {})]);
  expect(models).toEqual({
    thinker: { set: { temperature: 0.3, topP: 0.9, maxTokens: 500, reasoningEffort: "high" } },
  });
  expect(lost).toEqual([]);
});

test("what weir cannot set by model is told", () => {
  const odd = { temperature: 3, reasoning_effort: "very", seed: 7 };
  const { models, lost } = modelsOf([entry("odd", odd)]);
  expect(models).toBeUndefined();
  expect(lost.map((path) => path.split(".").at(-1))).toEqual(["temperature", "reasoning_effort", "seed"]);
  const shared = modelsOf([
    entry("two", { temperature: 0.1 }),
    entry("two", { temperature: 0.9, model: "groq/x" }),
  ]);
  expect(shared.models).toBeUndefined();
  expect(shared.lost).toHaveLength(2);
});
