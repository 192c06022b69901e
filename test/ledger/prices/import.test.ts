/** The import of prices: entries in the form of LiteLLM's price map become lines of the price book. */
import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/core/events.ts";
import { PriceBook } from "../../../src/ledger/prices/book.ts";
import { priceUsage } from "../../../src/ledger/prices/price.ts";
import { changes, jumps } from "../../../src/ledger/prices/import/compare.ts";
import { convert } from "../../../src/ledger/prices/import/convert.ts";
import { comingChanges, disagreements, missingLines } from "../../../src/ledger/prices/import/second.ts";
import { writeSnapshot } from "../../../src/ledger/prices/import/snapshot-text.ts";
import { shippedSnapshot } from "../../../src/ledger/prices/shipped.ts";
import { Snapshot, type SnapshotLine } from "../../../src/ledger/prices/snapshot.ts";

const chat = (provider: string, more: object = {}) => ({
  ...{ litellm_provider: provider, mode: "chat" },
  ...{ input_cost_per_token: 2.5e-6, output_cost_per_token: 1.5e-5 },
  ...more,
});

describe("an entry of the map", () => {
  test("becomes integers under the names of weir", () => {
    const entry = chat("openai", {
      ...{ cache_read_input_token_cost: 2.5e-7, max_output_tokens: 128_000, max_input_tokens: 1_050_000 },
      ...{ input_cost_per_token_above_272k_tokens: 5e-6, output_cost_per_token_above_272k_tokens: 2.25e-5 },
      ...{ input_cost_per_token_priority: 5e-6, output_cost_per_token_priority: 3e-5 },
      ...{ input_cost_per_token_flex: 1.25e-6, output_cost_per_token_batches: 7.5e-6 },
      regional_processing_uplift_multiplier_eu: 1.1,
      search_context_cost_per_query: { search_context_size_low: 0.02, search_context_size_medium: 0.01 },
      supports_vision: true,
    });
    expect(convert("gpt-5.4", entry)).toEqual({
      ...{ provider: "openai", model: "gpt-5.4", input: 2_500_000, cacheRead: 250_000, output: 15_000_000 },
      tiers: [{ above: 272_000, input: 5_000_000, output: 22_500_000 }],
      served: { priority: { input: 5_000_000, output: 30_000_000 } },
      regions: { eu: 1.1 },
      per: { search: 10_000_000 },
      ...{ maxOutput: 128_000, window: 1_050_000 },
    });
  });

  test("has prices of a service tier for long requests, where the map leaves them out", () => {
    const entry = chat("gemini", {
      ...{ cache_read_input_token_cost: 2.5e-7, cache_read_input_audio_token_cost: 1e-6 },
      ...{ input_cost_per_token_above_200k_tokens: 5e-6, output_cost_per_token_above_200k_tokens: 2.25e-5 },
      cache_read_input_token_cost_above_200k_tokens: 5e-7,
      ...{ input_cost_per_token_flex: 1.25e-6, output_cost_per_token_flex: 7.5e-6 },
      cache_read_input_token_cost_flex: 2.5e-7,
    });
    const line = convert("gemini/pro", entry)!;
    expect(line.cacheReadAudio).toBe(1_000_000);
    expect(line.served).toEqual({
      flex: {
        ...{ input: 1_250_000, cacheRead: 250_000, output: 7_500_000 },
        tiers: [{ above: 200_000, input: 2_500_000, cacheRead: 500_000, output: 11_250_000 }],
      },
    });
  });

  test("charges a request of xAI that has exactly the length of the edge as a long one", () => {
    const long = {
      input_cost_per_token_above_200k_tokens: 5e-6,
      output_cost_per_token_above_200k_tokens: 3e-5,
    };
    expect(convert("xai/grok", chat("xai", long))!.tiers![0]!.above).toBe(199_999);
    expect(convert("openai/gpt", chat("openai", long))!.tiers![0]!.above).toBe(200_000);
  });

  test("keeps the tiers of a list, with the whole request in the tier of its input", () => {
    const range = (from: number, to: number, input: number) => ({
      range: [from, to],
      ...{ input_cost_per_token: input, output_cost_per_token: 2 * input },
    });
    const entry = {
      ...chat("dashscope"),
      tiered_pricing: [range(0, 32_000, 1e-6), range(32_000, 128_000, 2e-6)],
    };
    expect(convert("dashscope/qwen-x", entry)).toMatchObject({
      ...{ provider: "qwen", model: "qwen-x", input: 1_000_000, output: 2_000_000 },
      tiers: [{ above: 32_000, input: 2_000_000, output: 4_000_000 }],
    });
  });

  test("charges Google's searches once a request, unless the map says that each is charged", () => {
    const search = { search_context_cost_per_query: { search_context_size_medium: 0.035 } };
    expect(convert("gemini/a", chat("gemini", search))?.per).toEqual({ searched: 35_000_000 });
    const each = { ...search, web_search_billing_unit: "per_query" };
    expect(convert("gemini/a", chat("gemini", each))?.per).toEqual({ search: 35_000_000 });
  });

  test("without a price, of another kind, or of another vendor is left out", () => {
    expect(convert("x", chat("someone"))).toBeUndefined();
    expect(convert("x", chat("openai", { mode: "video_generation" }))).toBeUndefined();
    expect(convert("x", chat("openai", { output_cost_per_token: 0 }))).toBeUndefined();
    expect(convert("x", chat("openai", { input_cost_per_token: 0 }))).toBeUndefined();
    expect(convert("low/1024-x-1024/image", chat("openai"))).toBeUndefined();
    expect(convert("bedrock/eu-west-1/x", chat("bedrock"))).toBeUndefined();
  });

  test("a zero is no price of a cache", () => {
    const line = convert("x", chat("openai", { cache_read_input_token_cost: 0 }));
    expect(line).not.toHaveProperty("cacheRead");
  });

  test("an embedding needs no price of output", () => {
    const entry = { litellm_provider: "voyage", mode: "embedding", input_cost_per_token: 1.2e-7 };
    expect(convert("voyage/voyage-4", entry)).toEqual({
      ...{ provider: "voyage", model: "voyage-4", input: 120_000, output: 0 },
    });
  });
});

describe("an entry of what is no text", () => {
  const of = (key: string, provider: string, mode: string, costs: object) =>
    convert(key, {
      litellm_provider: provider,
      mode,
      max_input_tokens: 4096,
      max_output_tokens: 4096,
      ...costs,
    });
  const noTokens = { input_cost_per_token: 0, output_cost_per_token: 0 };

  test.each([
    ["rerank", { ...noTokens, input_cost_per_query: 0.0025 }, { search: 2_500_000_000 }],
    ["audio_transcription", { input_cost_per_second: 3.083e-5 }, { second: 30_830_000 }],
    ["audio_speech", { input_cost_per_character: 1.5e-5 }, { character: 15_000_000 }],
    ["image_generation", { input_cost_per_image: 0, output_cost_per_image: 0.008 }, { image: 8_000_000_000 }],
    ["image_generation", { input_cost_per_image: 0.02 }, { image: 20_000_000_000 }],
  ] as [string, object, Record<string, number>][])("%s by %j has the units %j", (mode, costs, units) => {
    expect(of("x", "openai", mode, costs)).toEqual({ provider: "openai", model: "x", units });
  });

  test("has its tokens where it is charged by tokens, whatever else the map says", () => {
    const costs = { input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 };
    const heard = { ...costs, input_cost_per_audio_token: 6e-6, input_cost_per_second: 1e-4 };
    expect(of("x", "openai", "audio_transcription", heard)).toEqual({
      ...{ provider: "openai", model: "x", input: 2_500_000, output: 10_000_000, audioIn: 6_000_000 },
      ...{ window: 4096, maxOutput: 4096 },
    });
    const drawn = { ...costs, output_cost_per_image: 0.1 };
    expect(of("x", "openai", "image_generation", drawn)).not.toHaveProperty("units");
    // A model that ranks gives no tokens.
    expect(
      of("voyage/r", "voyage", "rerank", { input_cost_per_token: 5e-8, output_cost_per_token: 0 }),
    ).toEqual({
      ...{ provider: "voyage", model: "r", input: 50_000, output: 0, window: 4096 },
    });
  });

  test("has no price where the map has that of some tokens only, or of another size", () => {
    const some = {
      input_cost_per_audio_token: 2e-6,
      input_cost_per_second: 5e-5,
      output_cost_per_token: 1e-5,
    };
    expect(of("x", "openai", "audio_transcription", some)).toBeUndefined();
    expect(
      of("hd/1024-x-1024/dall-e-3", "openai", "image_generation", { input_cost_per_image: 0.1 }),
    ).toBeUndefined();
    expect(of("x", "openai", "rerank", { ...noTokens, input_cost_per_query: 0 })).toBeUndefined();
  });

  test("costs nothing only where the vendor says so", () => {
    expect(of("omni", "openai", "moderation", noTokens)).toEqual({
      ...{ provider: "openai", model: "omni", input: 0, output: 0 },
    });
    expect(of("mistral/mistral-moderation", "mistral", "moderation", noTokens)).toBeUndefined();
  });

  test("is in the price book, and is charged", () => {
    const book = new PriceBook({});
    const cohere = book.lookup("cohere", "rerank-v4.0-pro")!;
    expect(cohere.units).toEqual({ search: 2_500_000_000 });
    const free = book.lookup("openai", "omni-moderation-latest")!;
    const used = { ...NO_USAGE, known: "final" as const };
    expect(priceUsage({ ...used, units: { search: 3 } }, cohere)).toMatchObject({ cost: 7_500_000 });
    expect(priceUsage({ ...used, input: 5000 }, free)).toMatchObject({ cost: 0 });
    expect(shippedSnapshot().find("groq", "whisper-large-v3")?.units).toEqual({ second: 30_830_000 });
  });
});

const HEAD = { source: "litellm", version: "1", licence: "MIT", date: "2026-11-01", sameAs: {} };
const line = (model: string, input: number, provider = "openai"): SnapshotLine => ({
  ...{ provider, model, input, output: 2 * input },
});

describe("the price book", () => {
  test("names a model without its date if all dated versions cost the same", () => {
    const book = new Snapshot(
      writeSnapshot(HEAD, [
        line("a-2025-01-01", 5),
        line("a-2025-02-02", 5),
        line("b-20250101", 5),
        line("b-20250202", 6),
      ]),
    );
    expect(book.find("openai", "a")).toMatchObject({ model: "a-2025-02-02", input: 5 });
    expect(book.find("openai", "b")).toBeUndefined();
  });

  test("has no dated version that costs as much as the model without a date", () => {
    const text = writeSnapshot(HEAD, [line("a", 5), line("a-2025-01-01", 5), line("a-2025-02-02", 6)]);
    expect(text).not.toContain("a-2025-01-01");
    expect(new Snapshot(text).find("openai", "a-2025-01-01")?.input).toBe(5);
    expect(new Snapshot(text).find("openai", "a-2025-02-02")?.input).toBe(6);
  });

  test("is written the same from any order of the entries, and names the mock", () => {
    const lines = [line("b", 1), line("a", 2), line("c", 3)];
    expect(writeSnapshot(HEAD, lines)).toBe(writeSnapshot(HEAD, lines.toReversed()));
    expect(new Snapshot(writeSnapshot(HEAD, [])).find("mock", "chat")).toMatchObject({
      output: 2_000_000,
      source: "weir",
    });
  });
});

describe("what a person reads before the commit", () => {
  test("new, gone and changed models, and prices that jump", () => {
    const before = [line("a", 1_000_000), line("b", 1_000_000), line("c", 1_000_000)];
    const after = [line("a", 1_000_000), line("b", 6_000_000), line("d", 1_000_000)];
    expect(changes(before, after)).toEqual([
      "- openai/c",
      "  openai/b input 1, output 2 → input 6, output 12",
      "+ openai/d input 1, output 2",
    ]);
    expect(jumps(before, after)).toEqual(["openai/b input 1 → 6", "openai/b output 2 → 12"]);
    expect(jumps([line("a", 1_000_000)], [line("a", 5_000_000)])).toEqual([]);
    const ranks = { provider: "cohere", model: "r", units: { search: 2_000_000_000 } };
    expect(changes([], [ranks])).toEqual(["+ cohere/r $0.002 a search"]);
    const dearer = { ...ranks, units: { search: 20_000_000_000 } };
    expect(jumps([ranks], [dearer])).toEqual(["cohere/r search 0.002 → 0.02"]);
  });

  test("where long requests begin, and what they cost, differs from the second table", () => {
    const long = (start: number, price: string) => ({ base: "1", tiers: [{ start, price }] });
    const list = [{ id: "x-ai", models: [{ id: "a", prices: { input_mtok: long(199_999, "2") } }] }];
    const own = (above: number, input: number): SnapshotLine => ({
      ...line("a", 1_000_000, "xai"),
      tiers: [{ above, input, output: 4_000_000 }],
    });
    expect(disagreements([own(199_999, 2_000_000)], list, "2026-11-01")).toEqual([]);
    expect(disagreements([own(200_000, 2_000_000)], list, "2026-11-01")).toEqual([
      "xai/a input, long requests: 2 above 200000 here, 2 above 199999 there",
    ]);
    expect(disagreements([line("a", 1_000_000, "xai")], list, "2026-11-01")).toEqual([
      "xai/a input, long requests: no tiers here, 2 above 199999 there",
    ]);
  });

  test("models of Groq and Together that the map lacks come from the second table, which their charges name", () => {
    const prices = { input_mtok: "0.59", output_mtok: "0.79" };
    const models = ["a", "b"].map((id) => ({ id, prices }));
    const list = [
      { id: "groq", models: [...models, { id: "speech", prices: { input_mchars: "40" } }] },
      { id: "openai", models },
    ];
    const added = missingLines([line("a", 1, "groq")], list, "2026-11-01", "genai-prices 2026-11-01");
    expect(added).toEqual([
      {
        ...{ provider: "groq", model: "b", input: 590_000, output: 790_000 },
        source: "genai-prices 2026-11-01",
      },
    ]);
    const book = new Snapshot(writeSnapshot(HEAD, added));
    expect(book.find("groq", "b")?.source).toBe("genai-prices 2026-11-01");
    expect(shippedSnapshot().find("groq", "llama-3.3-70b-versatile")).toMatchObject({ input: 590_000 });
  });

  test("what differs from the second table on the day, and what it announces", () => {
    const list = [
      {
        id: "openai",
        models: [
          { id: "a", prices: { input_mtok: "1.0009", output_mtok: "2.1" } },
          {
            id: "b",
            prices: [
              { prices: { input_mtok: 1 } },
              { constraint: { start_date: "2027-01-01" }, prices: { input_mtok: 2 } },
            ],
          },
        ],
      },
    ];
    const lines = [line("a", 1_000_000), line("b", 1_000_000)];
    expect(disagreements(lines, list, "2026-11-01")).toEqual(["openai/a output: 2 here, 2.1 there"]);
    expect(comingChanges(lines, list, "2026-11-01")).toEqual(['2027-01-01 openai/b {"input_mtok":2}']);
    expect(disagreements(lines, list, "2027-01-01")).toContain("openai/b input: 1 here, 2 there");
  });
});
