import { expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/core/events.ts";
import type { PriceRule } from "../../../src/ledger/charge.ts";
import { priceUsage } from "../../../src/ledger/prices/price.ts";
import { regionOf } from "../../../src/ledger/prices/region.ts";
import { type UsedTarget, whatIf } from "../../../src/ledger/prices/whatif.ts";

const RULES: Readonly<Record<string, PriceRule>> = {
  "acme/large": {
    ...{ ref: "a", provider: "acme", model: "large", source: "test", input: 3_000_000, cacheRead: 300_000 },
    output: 15_000_000,
  },
  "acme/small": {
    ...{ ref: "b", provider: "acme", model: "small", source: "test", input: 100_000, cacheRead: 10_000 },
    output: 400_000,
  },
};
const lookup = (provider: string, model: string) => RULES[`${provider}/${model}`];

const used = (model: string, input: number, cacheRead: number, output: number): UsedTarget => {
  const usage = { ...NO_USAGE, input, cacheRead, output, tier: "priority" };
  const cost = priceUsage({ ...usage, tier: undefined }, RULES[`acme/${model}`]!).cost;
  return { provider: "acme", model, calls: 1, usage, cost };
};
const CALLS = [used("large", 1000, 5000, 300), used("large", 10, 0, 3), used("small", 700, 0, 50)];
const SUM = CALLS.reduce((total, { cost }) => total + cost, 0);

test("the same model gives the same sum, to the nano-dollar", () => {
  const same: Record<string, string>[] = [
    {},
    { "acme/large": "acme/large" },
    { large: "large" },
    { "*/large": "large" },
  ];
  for (const map of same) expect(whatIf(CALLS, map, lookup)).toMatchObject({ calls: 3, now: SUM, then: SUM });
});

test("another model gives the sum of what each attempt would have cost", () => {
  const { rows, then } = whatIf(CALLS, { large: "acme/small" }, lookup);
  const expected = 100 * 1000 + 10 * 5000 + 400 * 300 + (100 * 10 + 400 * 3);
  expect(rows[0]).toEqual({
    ...{ from: "acme/large", to: "acme/small", calls: 2 },
    ...{ now: CALLS[0]!.cost + CALLS[1]!.cost, then: expected },
  });
  expect(then).toBe(expected + CALLS[2]!.cost);
});

test("a model without a price has no sum, but a reason", () => {
  const { rows, then } = whatIf(CALLS, { large: "other/model" }, lookup);
  expect(rows[0]).toMatchObject({ to: "other/model", why: "the price of other/model is not known" });
  expect(rows[0]).not.toHaveProperty("then");
  expect(then).toBe(SUM);
});

test("the sum of several calls is priced in the context tier of one of them", () => {
  const tiered: PriceRule = {
    ...RULES["acme/small"]!,
    tiers: [{ above: 1000, input: 500_000, cacheRead: 50_000, output: 2_000_000 }],
  };
  const of = (calls: number) =>
    whatIf(
      [{ ...CALLS[0]!, calls, usage: { ...NO_USAGE, input: 9000, output: 90 } }],
      { large: "small" },
      () => tiered,
    ).then;
  expect(of(10)).toBe(100 * 9000 + 400 * 90);
  expect(of(1)).toBe(500 * 9000 + 2000 * 90);
});

test("the region of a deployment is its variable, or a label of its host", () => {
  const deployment = {
    name: "x",
    credentials: {},
    weight: 1,
    priority: 0,
    baseUrl: "https://eu.api.openai.com/v1",
  };
  expect(regionOf(deployment)).toBe("eu");
  expect(regionOf({ ...deployment, baseUrl: "https://api.openai.com/v1" })).toBeUndefined();
  expect(regionOf({ ...deployment, variables: { location: "global" } })).toBe("global");
});
