/** The lines of a charge add up to it, whatever was used. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_USAGE, type Usage } from "../../../src/core/events.ts";
import type { PriceRule } from "../../../src/ledger/charge.ts";
import { linesOf } from "../../../src/ledger/prices/lines.ts";
import { priceUsage } from "../../../src/ledger/prices/price.ts";

const RULE: PriceRule = {
  ...{ ref: "0123456789ab", provider: "acme", model: "claude-test", source: "config" },
  ...{
    input: 2_500_001,
    cacheRead: 249_999,
    cacheWrite: 3_125_003,
    output: 15_000_007,
    reasoning: 14_999_993,
  },
  tiers: [{ above: 200_000, input: 5_000_000, output: 22_500_000 }],
  ...{ regions: { eu: 1.1 }, speeds: { fast: 2.5 } },
  per: { search: 10_000_000, searched: 7, request: 3 },
  units: { call: 2_000_000_001, byte: 499, second: 333_333 },
};

const tokens = fc.integer({ min: 0, max: 300_000 });
const usages: fc.Arbitrary<Usage> = fc.record({
  ...{ input: tokens, cacheRead: tokens, cacheWrite: tokens, cacheWrite1h: tokens },
  ...{ output: tokens, reasoning: tokens, audioIn: tokens, imageOut: tokens },
  searches: fc.integer({ min: 0, max: 3 }),
  units: fc.record({ call: tokens, byte: tokens, second: tokens }, { requiredKeys: [] }),
  region: fc.constantFrom("eu", "us"),
  speed: fc.constantFrom("fast", "standard"),
});

test("they add up to the charge, and none is without a count", () => {
  fc.assert(
    fc.property(usages, (usage) => {
      const { cost } = priceUsage(usage, RULE);
      const lines = linesOf(usage, { state: "metered", cost }, RULE)!;
      expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(cost);
      expect(lines.every(({ count }) => count > 0)).toBe(true);
    }),
  );
});

test("each has the price with the factors of region and speed, and fees have none", () => {
  const usage = { ...NO_USAGE, input: 1_000, output: 10, searches: 1, region: "eu", speed: "fast" };
  const { cost } = priceUsage(usage, RULE);
  const lines = linesOf(usage, { state: "metered", cost }, RULE)!;
  expect(lines.map(({ what, count, price }) => [what, count, price])).toEqual([
    ["input", 1_000, 6_875_003],
    ["output", 10, 41_250_019],
    ["searches", 1, undefined],
    ["searched", 1, undefined],
    ["request", 1, undefined],
  ]);
});

test("a charge that the rule does not lead to has no lines", () => {
  const usage = { ...NO_USAGE, input: 1_000 };
  expect(linesOf(usage, { state: "reported", cost: 1 }, RULE)).toBeUndefined();
});
