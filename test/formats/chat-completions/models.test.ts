import { describe, expect, test } from "bun:test";
import { modelFacts, nearestEffort } from "../../../src/formats/shared/openai-models.ts";

describe("models", () => {
  test("names of other hosts have no rules of this endpoint; every rule names levels that exist", () => {
    expect(modelFacts("openai/gpt-5")).toBeUndefined();
    expect(modelFacts("deepseek-chat")).toBeUndefined();
    expect(modelFacts("gpt-4.1-mini")!.efforts).toEqual([]);
    expect(modelFacts("meta-llama/Llama-3.3-70B-Instruct")!.efforts).toEqual([]);
    expect(modelFacts("o1-2024-12-17")!.stop).toBeTrue();
    expect(modelFacts("gpt-5.1-codex-max")!.efforts).toContain("xhigh");
    expect(modelFacts("gpt-6-astra")!.efforts).not.toContain("none");
  });

  test("the nearest level is the next weaker, never none", () => {
    expect(nearestEffort("max", ["low", "high"])).toBe("high");
    expect(nearestEffort("low", ["none", "medium", "high"])).toBe("medium");
    expect(nearestEffort("none", ["low", "high"])).toBe("low");
    expect(nearestEffort("medium", ["high"])).toBe("high");
    expect(nearestEffort("weird", ["low"])).toBe("weird");
  });
});
