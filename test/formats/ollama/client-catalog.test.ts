/** What clients of Ollama's API learn of models. */
import { expect, test } from "bun:test";
import type { ModelFacts } from "../../../src/core/model-facts.ts";
import { capabilitiesOf, local } from "../../../src/formats/ollama/client/catalog.ts";

const [tags, show] = ["/api/tags", "/api/show"].map((path) => local.find((one) => one.path === path)!);

test.each([
  // Clients hide what is absent, so what is not known counts as given.
  [{}, ["completion", "tools", "vision"]],
  [{ abilities: { tools: false }, input: ["text"] }, ["completion"]],
  [
    { abilities: { tools: true, reasoning: true }, input: ["text", "image"] },
    ["completion", "tools", "vision", "thinking"],
  ],
  [{ abilities: { reasoning: false } }, ["completion", "tools", "vision"]],
] as [ModelFacts, string[]][])("%j means the capabilities %j", (facts, capabilities) => {
  expect(capabilitiesOf({ does: ["chat", "embedding"], facts })).toEqual(capabilities);
});

test.each([
  [["embedding"], ["embedding"]],
  [["rerank"], []],
])("a model that does %j has the capabilities %j", (does, capabilities) => {
  expect(capabilitiesOf({ does })).toEqual(capabilities);
});

test("the digest of a model depends on its name alone, and its date is that of its release", () => {
  const entryOf = (id: string, provider: string, facts?: ModelFacts) =>
    (tags!.answer([{ id, provider, does: ["chat"], facts }]) as { models: Record<string, unknown>[] })
      .models[0]!;
  expect(entryOf("a", "x")["digest"]).toBe(entryOf("a", "y")["digest"]!);
  expect(entryOf("a", "x")["digest"]).not.toBe(entryOf("b", "x")["digest"]!);
  expect(entryOf("a", "x", { created: 1_800_000_000 })["modified_at"]).toBe("2027-01-15T08:00:00.000Z");
});

test("the length of the context is where clients look for it, and absent if it is not known", () => {
  const infoOf = (facts?: ModelFacts) =>
    (show!.answer([{ id: "a", provider: "acme", does: ["chat"], facts }]) as { model_info: object })
      .model_info;
  expect(infoOf({ contextWindow: 8192 })).toMatchObject({
    "general.architecture": "acme",
    "acme.context_length": 8192,
  });
  expect(infoOf()).not.toHaveProperty(["acme.context_length"]);
});

test("the name of the model to show is in `model`, or in `name` for older clients", () => {
  const nameIn = show!.of as (body: object) => string;
  expect(nameIn({ model: "a", name: "b" })).toBe("a");
  expect(nameIn({ name: "b" })).toBe("b");
  expect(() => nameIn({})).toThrow("'model'");
});
