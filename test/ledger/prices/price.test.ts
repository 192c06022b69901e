/** Token counts that price to figures computed by hand. Prices are written in dollars a million tokens, as vendors do. */
import { describe, expect, test } from "bun:test";
import { NO_USAGE, type Usage } from "../../../src/core/events.ts";
import type { BucketPrices, PriceRule } from "../../../src/ledger/charge.ts";
import { costAtMost, priceUsage } from "../../../src/ledger/prices/price.ts";

const million = (prices: BucketPrices): BucketPrices =>
  Object.fromEntries(Object.entries(prices).map(([name, dollars]) => [name, Math.round(dollars * 1e6)]));

const rule = (model: string, prices: BucketPrices, more: Partial<PriceRule> = {}): PriceRule => ({
  ref: "0123456789ab",
  provider: "acme",
  model,
  ...million(prices),
  source: "litellm 2026-11-01",
  ...more,
});

/** $3 in, $0.30 read, $3.75 written, $6 written for an hour, $15 out; from 200,000 tokens on twice; regions; searches at $0.01. */
const CLAUDE = rule(
  "claude-test",
  { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
  {
    tiers: [
      {
        above: 200_000,
        ...million({ input: 6, cacheRead: 0.6, cacheWrite: 7.5, cacheWrite1h: 12, output: 22.5 }),
      },
    ],
    regions: { us: 1.1 },
    speeds: { fast: 2 },
    per: { search: 10_000_000 },
  },
);
/** $2.50 in, $0.25 read, $15 out; priority twice, flex half; above 272,000 tokens dearer. */
const GPT = rule(
  "gpt-test",
  { input: 2.5, cacheRead: 0.25, output: 15 },
  {
    tiers: [{ above: 272_000, ...million({ input: 5, cacheRead: 0.5, output: 22.5 }) }],
    served: {
      priority: million({ input: 5, cacheRead: 0.5, output: 30 }),
      flex: {
        ...million({ input: 1.25, cacheRead: 0.13, output: 7.5 }),
        tiers: [{ above: 272_000, ...million({ input: 2.5, cacheRead: 0.25, output: 11.25 }) }],
      },
    },
  },
);
/** $0.30 in, $0.03 read, $1 audio in, $2.50 out, $3.50 reasoning, $30 images out, $12 audio out. */
const MEDIA = rule("media-test", {
  input: 0.3,
  cacheRead: 0.03,
  audioIn: 1,
  imageIn: 0.4,
  output: 2.5,
  reasoning: 3.5,
  imageOut: 30,
  audioOut: 12,
});
/** Only input and output. */
const PLAIN = rule("plain-test", { input: 0.15, output: 0.6 });
const TINY = rule("tiny-test", { input: 0.0375, output: 0.1 });
const EMBED = rule("embed-test", { input: 0.02, output: 0 });
const SEARCHED = rule(
  "sonar-test",
  { input: 1, output: 1 },
  { per: { search: 8_000_000, request: 5_000_000 } },
);
const GROUNDED = rule("grounded-test", { input: 0.15, output: 0.6 }, { per: { searched: 35_000_000 } });
const STEPS = rule(
  "steps-test",
  { input: 0.05, output: 0.4 },
  {
    tiers: [
      { above: 128_000, ...million({ input: 0.25, output: 2 }) },
      { above: 256_000, ...million({ input: 1.2, output: 12 }) },
    ],
  },
);
const ANYWHERE = rule("vertex-test", { input: 3, output: 15 }, { regions: { global: 1, "*": 1.1 } });

/** What is priced, the counts, the rule, nano-dollars. */
const CASES: readonly [what: string, usage: Partial<Usage>, by: PriceRule, nano: number][] = [
  ["input", { input: 1 }, CLAUDE, 3_000],
  ["output", { output: 1 }, CLAUDE, 15_000],
  ["cache read", { cacheRead: 1_000 }, CLAUDE, 300_000],
  ["cache write of five minutes", { cacheWrite: 1_000 }, CLAUDE, 3_750_000],
  ["cache write of an hour", { cacheWrite: 1_000, cacheWrite1h: 1_000 }, CLAUDE, 6_000_000],
  ["both kinds of cache writes", { cacheWrite: 1_000, cacheWrite1h: 400 }, CLAUDE, 600 * 3_750 + 400 * 6_000],
  [
    "all buckets, each once",
    { input: 100, cacheRead: 2_000, cacheWrite: 300, output: 40 },
    CLAUDE,
    100 * 3_000 + 2_000 * 300 + 300 * 3_750 + 40 * 15_000,
  ],
  ["reasoning as output where it has no price", { output: 500, reasoning: 300 }, CLAUDE, 7_500_000],
  ["one token below the context tier", { input: 199_999 }, CLAUDE, 599_997_000],
  ["at the context tier", { input: 200_000 }, CLAUDE, 600_000_000],
  ["one token above the context tier", { input: 200_001 }, CLAUDE, 1_200_006_000],
  ["output moves to the tier of its input", { input: 200_001, output: 10 }, CLAUDE, 1_200_006_000 + 225_000],
  ["what is cached counts for the tier", { cacheRead: 200_001 }, CLAUDE, 120_000_600],
  [
    "cache writes move to the tier",
    { cacheWrite: 200_001, cacheWrite1h: 1 },
    CLAUDE,
    200_000 * 7_500 + 12_000,
  ],
  ["output does not count for the tier", { input: 1, output: 300_000 }, CLAUDE, 3_000 + 4_500_000_000],
  ["a region with a surcharge", { input: 1_000, output: 10, region: "us" }, CLAUDE, 3_300_000 + 165_000],
  ["a region without one", { input: 1_000, region: "eu" }, CLAUDE, 3_000_000],
  ["a region and the cache", { cacheRead: 1_000, region: "us" }, CLAUDE, 330_000],
  ["fast mode", { input: 1_000, output: 10, speed: "fast" }, CLAUDE, 6_000_000 + 300_000],
  ["the usual speed", { input: 1_000, speed: "standard" }, CLAUDE, 3_000_000],
  ["fast mode in a region", { input: 1_000, speed: "fast", region: "us" }, CLAUDE, 6_600_000],
  ["searches", { input: 1, searches: 3 }, CLAUDE, 3_000 + 30_000_000],
  ["searches have no surcharge of a region", { searches: 1, region: "us" }, CLAUDE, 10_000_000],
  ["chat input and output", { input: 1_000, output: 1_000 }, GPT, 2_500_000 + 15_000_000],
  ["chat cache read", { input: 24, cacheRead: 1_024 }, GPT, 60_000 + 256_000],
  [
    "priority",
    { input: 1_000, cacheRead: 100, output: 10, tier: "priority" },
    GPT,
    5_000_000 + 50_000 + 300_000,
  ],
  ["flex", { input: 1_000, cacheRead: 100, output: 10, tier: "flex" }, GPT, 1_250_000 + 13_000 + 75_000],
  ["the usual tier by its names", { input: 1_000, tier: "default" }, GPT, 2_500_000],
  ["the usual tier of Google", { input: 1_000, tier: "ON_DEMAND" }, GPT, 2_500_000],
  ["the priority tier of Google", { input: 1_000, tier: "ON_DEMAND_PRIORITY" }, GPT, 5_000_000],
  ["one token below the chat tier", { input: 271_999 }, GPT, 679_997_500],
  ["at the chat tier", { input: 272_000 }, GPT, 680_000_000],
  ["one token above the chat tier", { input: 272_001 }, GPT, 1_360_005_000],
  ["flex above the chat tier", { input: 272_001, output: 2, tier: "flex" }, GPT, 680_002_500 + 22_500],
  ["cache writes as input where they have no price", { cacheWrite: 100, cacheWrite1h: 100 }, GPT, 250_000],
  ["audio in, part of the input", { input: 1_000, audioIn: 400 }, MEDIA, 600 * 300 + 400 * 1_000],
  ["images in, part of the input", { input: 1_000, imageIn: 250 }, MEDIA, 750 * 300 + 250 * 400],
  [
    "audio in that was cached mostly",
    { input: 100, cacheRead: 900, audioIn: 1_000 },
    MEDIA,
    100_000 + 27_000,
  ],
  [
    "audio from a cache, without a price of its own",
    { cacheRead: 900, cacheReadAudio: 400 },
    MEDIA,
    900 * 30,
  ],
  [
    "audio from a cache, part of what was read",
    { cacheRead: 900, cacheReadAudio: 400 },
    { ...MEDIA, cacheReadAudio: 100_000 },
    500 * 30 + 400 * 100,
  ],
  ["reasoning with a price", { output: 1_000, reasoning: 600 }, MEDIA, 400 * 2_500 + 600 * 3_500],
  ["images out", { output: 1_300, imageOut: 1_290 }, MEDIA, 10 * 2_500 + 1_290 * 30_000],
  ["audio out", { output: 100, audioOut: 90 }, MEDIA, 10 * 2_500 + 90 * 12_000],
  [
    "reasoning, audio and images out",
    { output: 100, reasoning: 10, audioOut: 20, imageOut: 30 },
    MEDIA,
    40 * 2_500 + 10 * 3_500 + 20 * 12_000 + 30 * 30_000,
  ],
  ["half a nano-dollar rounds up", { input: 1 }, TINY, 38],
  ["less than half rounds down, once for the sum", { input: 3, output: 1 }, TINY, 213],
  ["an embedding", { input: 7 }, EMBED, 140],
  ["a fee for each request and each search", { input: 10, output: 10, searches: 2 }, SEARCHED, 21_020_000],
  ["one fee for all searches of a request", { input: 10, searches: 2 }, GROUNDED, 1_500 + 35_000_000],
  ["no fee without a search", { input: 10 }, GROUNDED, 1_500],
  ["the first step", { input: 128_000 }, STEPS, 6_400_000],
  ["the second step", { input: 128_001, output: 1 }, STEPS, 32_000_250 + 2_000],
  ["the third step", { input: 256_001 }, STEPS, 307_201_200],
  ["everywhere but in one region", { input: 1_000, region: "europe-west1" }, ANYWHERE, 3_300_000],
  ["in that region", { input: 1_000, region: "global" }, ANYWHERE, 3_000_000],
  ["nothing", {}, PLAIN, 0],
  ["a count near 2^53", { input: 9_000_000_000_000 }, TINY, 337_500_000_000_000],
];

describe("the price of token counts", () => {
  test.each(CASES)("%s", (_what, usage, by, nano) => {
    expect(priceUsage({ ...NO_USAGE, ...usage }, by)).toEqual({ cost: nano });
  });

  test("an hour's cache writes of Claude cost twice the input where the rule has no price for them", () => {
    const claude = rule("us.anthropic.claude-test", { input: 3, cacheWrite: 3.75, output: 15 });
    const usage = { ...NO_USAGE, cacheWrite: 1_000, cacheWrite1h: 1_000 };
    expect(priceUsage(usage, claude).cost).toBe(6_000_000);
    expect(priceUsage(usage, { ...claude, model: "other" }).cost).toBe(3_750_000);
  });

  test("cache reads without a price cost as much as input, and say so", () => {
    const usage = { ...NO_USAGE, input: 10, cacheRead: 1_000 };
    expect(priceUsage(usage, PLAIN)).toEqual({ cost: 151_500, doubt: "cache-read" });
  });

  test("a service tier without a price costs as much as the usual one, and says so", () => {
    const usage = { ...NO_USAGE, input: 1_000, tier: "scale" };
    expect(priceUsage(usage, GPT)).toEqual({ cost: 2_500_000, doubt: "tier" });
    // The operator's price is for every tier.
    expect(priceUsage(usage, { ...GPT, source: "config" })).toEqual({ cost: 2_500_000 });
  });

  test("random counts and prices give the same sum as arithmetic without limits", () => {
    let seed = 7;
    const random = (most: number) => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % most;
    for (let round = 0; round < 20_000; round++) {
      const usage = {
        ...NO_USAGE,
        input: random(2_000_000),
        cacheRead: random(1e6),
        output: random(200_000),
      };
      const [input, cacheRead, output] = [random(150_000_000), random(15_000_000), random(600_000_000)];
      const pico =
        BigInt(usage.input) * BigInt(input) +
        BigInt(usage.cacheRead) * BigInt(cacheRead) +
        BigInt(usage.output) * BigInt(output);
      const exact = Number((pico + 500n) / 1000n);
      expect(priceUsage(usage, { ...PLAIN, input, cacheRead, output }).cost).toBe(exact);
    }
  });
});

describe("the most that a request can cost", () => {
  test("all input as the dearest kind, all output as the dearest kind, in the dearest region", () => {
    expect(costAtMost(CLAUDE, { input: 1_000, output: 100 })).toBe(6_600_000 + 1_650_000);
    expect(costAtMost(MEDIA, { input: 1_000, output: 100 })).toBe(1_000_000 + 3_000_000);
    expect(costAtMost(GPT, { input: 1_000, output: 100, tier: "priority" })).toBe(5_000_000 + 3_000_000);
    // A provider may serve the usual tier in place of a cheaper one.
    expect(costAtMost(GPT, { input: 1_000, output: 100, tier: "flex" })).toBe(2_500_000 + 1_500_000);
    expect(costAtMost(CLAUDE, { input: 1_000, output: 0, speed: "fast" })).toBe(13_200_000);
    expect(costAtMost(SEARCHED, { input: 0, output: 0, searches: 2 })).toBe(21_000_000);
  });

  test("input above a context tier is held at the prices of the tier", () => {
    expect(costAtMost(GPT, { input: 272_001, output: 0 })).toBe(1_360_005_000);
  });

  test("no usage within the bounds costs more", () => {
    let seed = 11;
    const random = (most: number) => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % most;
    for (let round = 0; round < 5_000; round++) {
      const [input, cacheRead, cacheWrite, output] = [
        random(99_999),
        random(99_999),
        random(99_999),
        random(9_999),
      ];
      const usage: Usage = {
        ...{ input, cacheRead, cacheWrite, output },
        reasoning: random(output + 1),
        cacheWrite1h: random(cacheWrite + 1),
        audioIn: random(input + 1),
        region: "us",
      };
      const bounds = { input: input + cacheRead + cacheWrite, output };
      for (const by of [CLAUDE, GPT, MEDIA, STEPS, PLAIN])
        expect(costAtMost(by, bounds)).toBeGreaterThanOrEqual(priceUsage(usage, by).cost);
    }
  });
});

describe("units", () => {
  const units = (prices: Record<string, number>) => ({
    ...rule("tool", {}),
    units: Object.fromEntries(
      Object.entries(prices).map(([unit, dollars]) => [unit, Math.round(dollars * 1e12)]),
    ),
  });
  const of = (used: Record<string, number>, more: Partial<Usage> = {}): Usage => ({
    ...NO_USAGE,
    ...more,
    units: used,
  });

  test("are priced exactly, rounded once, and without the factors of tokens", () => {
    const shop = units({ call: 0.002, byte: 0.000_000_000_4 });
    expect(priceUsage(of({ call: 3, byte: 1 }), shop)).toEqual({ cost: 6_000_000 });
    expect(priceUsage(of({ call: 0, byte: 3 }), shop)).toEqual({ cost: 1 });
    expect(priceUsage(of({ byte: 9_000_000_000_000 }), shop).cost).toBe(3_600_000_000_000);
    const dear = { ...CLAUDE, ...{ units: shop.units } };
    expect(priceUsage(of({ call: 1 }, { region: "us", speed: "fast" }), dear)).toEqual({ cost: 2_000_000 });
  });

  test("without a price are in doubt, as tokens of a rule with units only", () => {
    expect(priceUsage(of({ call: 1, hour: 1 }), units({ call: 0.01 }))).toEqual({
      cost: 10_000_000,
      doubt: "unit",
    });
    expect(priceUsage(of({ call: 1 }, { input: 5 }), units({ call: 0.01 })).doubt).toBe("unit");
    expect(priceUsage(of({ hour: 1 }), CLAUDE)).toEqual({ cost: 0, doubt: "unit" });
  });

  test("count in the most that a request can cost", () => {
    const both = { ...CLAUDE, units: { image: 40_000_000_000 } };
    const tokens = costAtMost(both, { input: 1_000, output: 10 });
    expect(costAtMost(both, { input: 1_000, output: 10, units: { image: 3 } })).toBe(tokens + 120_000_000);
  });
});
