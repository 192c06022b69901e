/** Facts about models in the binary: their import, and how lists look them up. */
import { describe, expect, test } from "bun:test";
import { createFactBook } from "../../../src/ledger/prices/fact-book.ts";
import type { FactLine } from "../../../src/ledger/prices/fact-line.ts";
import { convertFacts, withoutKnown } from "../../../src/ledger/prices/import/convert-facts.ts";
import { writeLines } from "../../../src/ledger/prices/import/snapshot-text.ts";
import { LineFile } from "../../../src/ledger/prices/line-file.ts";
import { shippedModels, shippedSnapshot } from "../../../src/ledger/prices/shipped.ts";
import { Snapshot, type SnapshotLine } from "../../../src/ledger/prices/snapshot.ts";

const HEAD = {
  source: "litellm",
  version: "1",
  licence: "MIT",
  date: "2026-11-01",
  sameAs: { sister: "acme" },
};
const chat = (more: object) => ({ litellm_provider: "openai", mode: "chat", ...more });

describe("an entry of the map", () => {
  test("becomes words and numbers", () => {
    const entry = chat({
      ...{ supports_function_calling: true, supports_tool_choice: true, supports_forced_tool_use: false },
      ...{ supports_vision: true, supports_pdf_input: true, supports_reasoning: true },
      ...{ max_input_tokens: 1000, max_output_tokens: 100, deprecation_date: "2027-01-02" },
    });
    expect(convertFacts("a", entry)).toEqual({
      ...{ provider: "openai", model: "a", in: "text image file", out: "text" },
      ...{ can: "tools reasoning", cannot: "forcedTools", window: 1000, maxOutput: 100, until: "2027-01-02" },
    });
  });

  test("leaves out what the map does not say", () => {
    expect(convertFacts("a", chat({}))).toEqual({ provider: "openai", model: "a", out: "text" });
    expect(convertFacts("a", chat({ deprecation_date: "soon" }))).not.toHaveProperty("until");
    expect(convertFacts("a", { litellm_provider: "someone", mode: "chat" })).toBeUndefined();
  });

  test("says what a model gives by its kind", () => {
    const of = (more: object) => convertFacts("a", chat(more))?.out;
    expect(of({ mode: "embedding" })).toBe("embedding");
    expect(of({ mode: "image_generation" })).toBe("image");
    expect(of({ supports_audio_output: true })).toBe("text audio");
    expect(of({ supported_output_modalities: ["text", "image"] })).toBe("text image");
  });

  test("says what a model does whose output does not show it", () => {
    const of = (mode: string) => convertFacts("a", { litellm_provider: "openai", mode });
    expect(of("rerank")).toEqual({ provider: "openai", model: "a", does: "rerank" });
    expect(of("moderation")).toEqual({ provider: "openai", model: "a", does: "moderation" });
    expect(of("audio_speech")).toMatchObject({ out: "audio", does: "speech" });
    expect(of("audio_transcription")).toMatchObject({ out: "text", does: "transcription" });
    expect(of("chat")).not.toHaveProperty("does");
    // What the map has there is the window once more.
    expect(
      convertFacts("a", { litellm_provider: "openai", mode: "rerank", max_output_tokens: 9 }),
    ).not.toHaveProperty("maxOutput");
  });

  test("keeps no limits that the price book has for the model", () => {
    const price = { provider: "openai", model: "a", input: 1, output: 2, window: 1000 };
    const prices = fileOf([price as SnapshotLine], Snapshot);
    const line = { provider: "openai", model: "a", out: "text", window: 1000, maxOutput: 100 };
    expect(withoutKnown(line, prices)).toEqual({
      provider: "openai",
      model: "a",
      out: "text",
      maxOutput: 100,
    });
    expect(withoutKnown({ provider: "openai", model: "a", window: 1000 }, prices)).toBeUndefined();
  });
});

describe("the facts of a model", () => {
  const prices: SnapshotLine[] = [
    {
      provider: "acme",
      model: "large",
      input: 2_000_000,
      output: 8_000_000,
      window: 100,
      per: { search: 10_000_000 },
    },
  ];
  const models: FactLine[] = [
    {
      provider: "acme",
      model: "large",
      in: "text image",
      can: "tools",
      cannot: "reasoning",
      until: "2027-01-01",
    },
    { provider: "acme", model: "free", window: 50 },
  ];
  const book = (settings: Parameters<typeof createFactBook>[0] = {}) =>
    createFactBook(settings, {
      shippedSnapshot: () => fileOf(prices, Snapshot),
      shippedModels: () => fileOf(models, LineFile<FactLine>),
    });

  test("are prices in dollars a token, limits, modalities, abilities and the day of the end", () => {
    const facts = {
      ...{ contextWindow: 100, input: ["text", "image"], deprecatedOn: "2027-01-01" },
      abilities: { tools: true, reasoning: false },
      prices: { input: 2e-6, output: 8e-6, search: 0.01 },
    };
    expect(book().ofSnapshot("acme", "large")).toEqual(facts as object);
    expect(book().ofSnapshot("sister", "large-2026-01-01")).toEqual(facts as object);
    expect(book().ofSnapshot("acme", "free")).toEqual({ contextWindow: 50 });
    expect(book().ofSnapshot("acme", "larg")).toBeUndefined();
    expect(book().ofConfig("acme", "large")).toBeUndefined();
  });

  test("take their prices from the config, and their limits from the files", () => {
    const configured = book({ "acme/*": { input: 1, output: 2 } });
    expect(configured.ofConfig("acme", "large")).toEqual({
      prices: { input: 1e-6, output: 2e-6, search: 0.01 },
    });
    expect(configured.ofSnapshot("acme", "large")).not.toHaveProperty("prices");
    expect(configured.ofSnapshot("acme", "large")?.contextWindow).toBe(100);
    expect(book({ "acme/new": 0 }).ofConfig("acme", "new")).toEqual({ prices: { input: 0, output: 0 } });
  });
});

test("what is charged by units has no price of a token, and says what it does", () => {
  const book = createFactBook({ "cohere/own": { units: { search: 0.1 } } });
  expect(book.ofSnapshot("cohere", "rerank-v4.0-pro")).toEqual({
    ...{ does: ["rerank"], contextWindow: 32_768 },
    prices: { input: 0, output: 0, units: { search: 0.0025 } },
  });
  expect(book.ofConfig("cohere", "own")).toEqual({ prices: { input: 0, output: 0, units: { search: 0.1 } } });
  expect(book.ofSnapshot("openai", "omni-moderation-latest")).toMatchObject({
    ...{ does: ["moderation"], prices: { input: 0, output: 0 } },
  });
});

test("a file finds the same lines with an index and without", () => {
  const text = writeLines(HEAD, shippedModels().lines());
  const [plain, indexed] = [new LineFile<FactLine>(text), new LineFile<FactLine>(text).buildIndex()];
  for (const { provider, model } of shippedModels()
    .lines()
    .filter((_, at) => at % 50 === 0))
    expect(indexed.lookup(provider, model)).toEqual(plain.lookup(provider, model)!);
  expect(indexed.lookup("openai", "no-such-model")).toBeUndefined();
});

test("the files in the binary come from one import, and know most models of the price book", () => {
  expect(shippedModels().head).toEqual(shippedSnapshot().head);
  const models = shippedModels().buildIndex();
  const lines = shippedSnapshot().lines();
  const known = lines.filter(({ provider, model }) => models.lookup(provider, model));
  expect(known.length).toBeGreaterThan(lines.length * 0.95);
});

function fileOf<File>(lines: readonly object[], File: new (text: string) => File): File {
  return new File([HEAD, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
}
