/** How the facts of several sources, and of several models, are joined. */
import { expect, test } from "bun:test";
import type { ModelFacts } from "../../../src/core/model-facts.ts";
import { commonFacts, mergeFacts } from "../../../src/gateway/models/join-facts.ts";

test("of each member and each ability the first source that knows it counts", () => {
  const config: ModelFacts = { abilities: { tools: false }, prices: { input: 1, output: 2 } };
  const host: ModelFacts = { contextWindow: 100, prices: { input: 3, output: 4, cacheRead: 1 } };
  const snapshot: ModelFacts = {
    contextWindow: 200,
    maxOutput: 50,
    abilities: { tools: true, reasoning: true },
  };
  expect(mergeFacts([config, host, snapshot])).toEqual({
    contextWindow: 100,
    maxOutput: 50,
    abilities: { tools: false, reasoning: true },
    prices: { input: 1, output: 2 },
  });
});

test("what no source knows stays unknown", () => {
  expect(mergeFacts([undefined, undefined])).toBeUndefined();
  expect(mergeFacts([undefined, { maxOutput: 1 }])).toEqual({ maxOutput: 1 });
});

test("several models have the smallest limits, and what all of them take, give and can do", () => {
  const large: ModelFacts = {
    ...{ contextWindow: 1000, maxOutput: 10, input: ["text", "image", "file"], output: ["text"] },
    abilities: { tools: true, reasoning: true, jsonSchema: true },
    prices: { input: 1, output: 2 },
  };
  const small: ModelFacts = {
    ...{ contextWindow: 100, maxOutput: 20, input: ["text", "file"], output: ["text"] },
    abilities: { tools: true, reasoning: false },
    prices: { input: 1, output: 3 },
  };
  expect(commonFacts([large, small])).toEqual({
    ...{ contextWindow: 100, maxOutput: 10, input: ["text", "file"], output: ["text"] },
    abilities: { tools: true, reasoning: false },
  });
  expect(commonFacts([large, { ...small, prices: { output: 2, input: 1 } }])?.prices).toEqual({
    input: 1,
    output: 2,
  });
});

test("what is unknown for one of several models is unknown for all", () => {
  expect(commonFacts([{ contextWindow: 100, maxOutput: 5 }, { maxOutput: 4 }])).toEqual({ maxOutput: 4 });
  expect(commonFacts([{ contextWindow: 100 }, undefined])).toBeUndefined();
  expect(commonFacts([])).toBeUndefined();
});

test("one model keeps all of its facts", () => {
  const facts: ModelFacts = { name: "One", created: 5, deprecatedOn: "2027-01-01" };
  expect(commonFacts([facts])).toEqual(facts);
});
