/** Reasoning options for each family of models. */
import { describe, expect, test } from "bun:test";
import type { ReasoningOptions } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode } from "./make.ts";

const thinking = (reasoning: ReasoningOptions | undefined, model: string) => {
  const { body, losses } = encode({ reasoning }, { model });
  const config = (body["generationConfig"] as JsonObject | undefined)?.["thinkingConfig"] as JsonObject;
  const { thinkingBudget, thinkingLevel } = config ?? {};
  expect(thinkingBudget === undefined || thinkingLevel === undefined).toBe(true);
  return { asked: thinkingBudget ?? thinkingLevel, shows: config?.["includeThoughts"] === true, losses };
};

const MODELS = [
  "gemini-2.5-flash",
  "gemini-2.5-pro",
  "gemini-2.5-flash-lite",
  "gemini-3-flash-preview",
  "gemini-3-pro-preview",
  "gemini-3.1-pro-preview",
];

describe("each wish gives each model a budget or a level that it takes", () => {
  const rows: [string, ReasoningOptions, (number | string)[]][] = [
    ["off", { mode: "off" }, [0, 128, 0, "MINIMAL", "LOW", "LOW"]],
    ["none", { effort: "none" }, [0, 128, 0, "MINIMAL", "LOW", "LOW"]],
    ["minimal", { effort: "minimal" }, [512, 512, 512, "MINIMAL", "LOW", "LOW"]],
    ["low", { effort: "low" }, [1024, 1024, 1024, "LOW", "LOW", "LOW"]],
    ["medium", { effort: "medium" }, [8192, 8192, 8192, "MEDIUM", "HIGH", "MEDIUM"]],
    ["high", { effort: "high" }, [24_576, 24_576, 24_576, "HIGH", "HIGH", "HIGH"]],
    ["xhigh", { effort: "xhigh" }, [24_576, 32_768, 24_576, "HIGH", "HIGH", "HIGH"]],
    ["max", { effort: "max" }, [24_576, 32_768, 24_576, "HIGH", "HIGH", "HIGH"]],
    ["budget 100", { mode: "budget", budget: 100 }, [100, 128, 512, "LOW", "LOW", "LOW"]],
    ["budget 8192", { mode: "budget", budget: 8192 }, [8192, 8192, 8192, "MEDIUM", "HIGH", "MEDIUM"]],
    ["budget 50000", { mode: "budget", budget: 50_000 }, [24_576, 32_768, 24_576, "HIGH", "HIGH", "HIGH"]],
  ];
  for (const [name, wish, expected] of rows)
    test(name, () => {
      expect(MODELS.map((model) => thinking(wish, model).asked)).toEqual(expected);
    });
});

test("no wish asks for nothing; an adaptive one leaves the amount to the model", () => {
  for (const model of MODELS) expect(encode({}, { model }).body).not.toHaveProperty("generationConfig");
  expect(thinking({ mode: "adaptive" }, "gemini-2.5-flash").asked).toBe(-1);
  expect(thinking({ mode: "adaptive" }, "gemini-3-flash-preview")).toMatchObject({
    asked: undefined,
    shows: true,
  });
});

test("thoughts are asked for unless reasoning is off or the client does not want to see them", () => {
  expect(thinking({ effort: "low" }, "gemini-2.5-flash").shows).toBe(true);
  expect(thinking({ effort: "low", display: "omitted" }, "gemini-2.5-flash").shows).toBe(false);
  expect(thinking({ mode: "off" }, "gemini-2.5-flash").shows).toBe(false);
});

test("what a model cannot do is a loss", () => {
  expect(thinking({ mode: "off" }, "gemini-2.5-pro").losses).toEqual(["downgraded:reasoning"]);
  expect(thinking({ mode: "off" }, "gemini-2.5-flash").losses).toEqual([]);
  expect(thinking({ effort: "medium" }, "gemini-3-pro-preview").losses).toEqual(["clamped:effort"]);
  expect(thinking({ mode: "budget", budget: 50_000 }, "gemini-2.5-flash").losses).toEqual([
    "clamped:reasoning",
  ]);
  for (const model of ["gemini-2.0-flash", "gemma-3-27b-it", "some-model"]) {
    expect(thinking({ effort: "high" }, model)).toEqual({
      asked: undefined,
      shows: false,
      losses: ["dropped:effort"],
    });
    expect(thinking({ mode: "off" }, model).losses).toEqual([]);
  }
});

test("a prefix of the model name does not matter", () => {
  expect(thinking({ mode: "off" }, "publishers/google/models/gemini-2.5-pro").asked).toBe(128);
});
