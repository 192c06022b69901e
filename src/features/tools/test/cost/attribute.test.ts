/** Tokens and money of a call, divided: exact sums, and the order in which providers cache. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../../../test/helpers/recordings.ts";
import { NO_USAGE, type Usage } from "../../../../core/events.ts";
import type { Charge, PriceRule } from "../../../../ledger/charge.ts";
import { chargeOf } from "../../../../ledger/prices/charge-of.ts";
import { noClasses, partsOf, PromptTokens, sumOf, TokenPrices } from "../../cost/attribute.ts";

const RULE: PriceRule = {
  ...{ ref: "r", provider: "p", model: "claude-x", source: "test" },
  ...{ input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 },
};
const usageOf = (usage: Partial<Usage>): Usage => ({ ...NO_USAGE, ...usage });

test("what was read is the beginning of the prompt, what was written follows, and the rest is not cached", () => {
  const prompt = new PromptTokens(1_000, { input: 20, cacheRead: 50, cacheWrite: 30 });
  expect(prompt.between(0, 400)).toEqual({ read: 40, write: 0, uncached: 0 });
  expect(prompt.between(400, 700)).toEqual({ read: 10, write: 20, uncached: 0 });
  expect(prompt.between(700, 1_000)).toEqual({ read: 0, write: 10, uncached: 20 });
  expect(new PromptTokens(0, { input: 5, cacheRead: 0, cacheWrite: 0 }).between(0, 0)).toEqual(noClasses());
});

test("a charge is divided by the prices that were paid", () => {
  const usage = usageOf({ input: 1_000, cacheRead: 2_000, cacheWrite: 400, output: 100 });
  const { cost } = chargeOf({ reach: "sent", usage }, RULE);
  expect(cost).toBe(6_600_000);
  expect(partsOf({ cost }, usage, RULE)).toEqual({
    uncached: 3_000_000,
    read: 600_000,
    write: 1_500_000,
    rest: 1_500_000,
  });
});

test("dearer writes, regions, tiers of length and fees are those of the charge", () => {
  const rule: PriceRule = {
    ...RULE,
    regions: { eu: 1.1 },
    tiers: [
      { above: 2_500, input: 6_000_000, output: 22_500_000, cacheRead: 600_000, cacheWrite: 7_500_000 },
    ],
    per: { request: 77 },
  };
  const usage = usageOf({
    input: 1_000,
    cacheRead: 2_000,
    cacheWrite: 400,
    cacheWrite1h: 100,
    output: 100,
    region: "eu",
  });
  const { cost } = chargeOf({ reach: "sent", usage }, rule);
  const { rest, ...input } = partsOf({ cost }, usage, rule);
  expect(input).toEqual({ uncached: 6_600_000, read: 1_320_000, write: 300 * 8_250 + 100 * 13_200 });
  expect(sumOf(input) + rest).toBe(cost);
  expect(rest).toBe(100 * 24_750 + 77);
});

test("an amount that the provider names is divided in the proportion of the prices", () => {
  const usage = usageOf({ input: 1_000, output: 200, reported: 12_000_000 });
  const charge: Charge = chargeOf({ reach: "sent", usage }, RULE);
  expect(charge).toEqual({ state: "reported", cost: 12_000_000 });
  expect(partsOf(charge, usage, RULE)).toEqual({ ...noClasses(), uncached: 6_000_000, rest: 6_000_000 });
  expect(partsOf(charge, usage)).toEqual({ ...noClasses(), rest: 12_000_000 });
});

test("a charge that was assumed, without counts, belongs to no tool", () => {
  expect(partsOf({ cost: 12_345 }, NO_USAGE, RULE)).toEqual({ ...noClasses(), rest: 12_345 });
});

test("over 2,000 random calls nothing is lost, invented or negative", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = seededRandom(seed);
    const number = (most: number) => Math.floor(random() * most);
    const usage = usageOf({
      ...{
        input: number(300_000),
        cacheRead: number(300_000),
        cacheWrite: number(90_000),
        output: number(9_000),
      },
      ...(number(3) === 0 && { reported: number(9_000_000_000) }),
    });
    const rule = {
      ...RULE,
      input: number(90_000_001),
      cacheRead: number(9_000_001),
      output: 1 + number(90_000_001),
    };
    const charge = chargeOf({ reach: "sent", usage }, rule);
    const { rest, ...input } = partsOf(charge, usage, rule);
    expect(sumOf(input) + rest).toBe(charge.cost);
    const bytes = 1 + number(2_000_000);
    const cuts = Array.from({ length: number(60) }, () => number(bytes)).sort((a, b) => a - b);
    const places = [0, ...cuts, bytes];
    const prompt = new PromptTokens(bytes, usage);
    const all = { uncached: usage.input, write: usage.cacheWrite, read: usage.cacheRead };
    const prices = new TokenPrices(all, input);
    const [tokens, cost] = [noClasses(), noClasses()];
    for (const [index, from] of places.slice(0, -1).entries()) {
      const part = prompt.between(from, places[index + 1]!);
      const paid = prices.take(part);
      for (const one of ["uncached", "write", "read"] as const) {
        tokens[one] += part[one];
        cost[one] += paid[one];
        expect(Math.min(part[one], paid[one])).toBeGreaterThanOrEqual(0);
      }
    }
    expect(tokens).toEqual(all);
    for (const one of ["uncached", "write", "read"] as const)
      expect(cost[one]).toBe(all[one] === 0 ? 0 : input[one]);
  }
});
