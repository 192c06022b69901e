import { describe, expect, test } from "bun:test";
import { NO_USAGE, type Usage } from "../../../src/core/events.ts";
import type { PriceRule } from "../../../src/ledger/charge.ts";
import { chargeOf } from "../../../src/ledger/prices/charge-of.ts";

const RULE: PriceRule = {
  ref: "0123456789ab",
  ...{ provider: "acme", model: "large", input: 1_000_000, cacheRead: 100_000, output: 2_000_000 },
  source: "litellm 2026-11-01",
};
const CONFIGURED: PriceRule = { ...RULE, source: "config" };
const price = RULE.ref;
const FINAL: Usage = { ...NO_USAGE, input: 10, output: 5, known: "final" };
const PARTIAL: Usage = { ...NO_USAGE, input: 10, known: "partial" };

describe("the charge of an attempt", () => {
  test("final counts are metered", () => {
    expect(chargeOf({ reach: "sent", usage: FINAL }, RULE)).toEqual({
      state: "metered",
      cost: 20_000,
      price,
    });
  });

  test("the provider's own figure is taken as reported, unless the config names a price", () => {
    const usage = { ...FINAL, reported: 12_345 };
    expect(chargeOf({ reach: "sent", usage }, RULE)).toEqual({ state: "reported", cost: 12_345 });
    expect(chargeOf({ reach: "sent", usage }, undefined)).toEqual({ state: "reported", cost: 12_345 });
    expect(chargeOf({ reach: "sent", usage }, CONFIGURED)).toEqual({ state: "metered", cost: 20_000, price });
  });

  test("zero that the provider counted is 0, and no count is never 0", () => {
    const zero: Usage = { ...NO_USAGE, known: "final" };
    expect(chargeOf({ reach: "sent", usage: zero }, RULE)).toEqual({ state: "metered", cost: 0, price });
    expect(chargeOf({ reach: "sent", usage: NO_USAGE, assumed: 777 }, RULE)).toEqual({
      state: "assumed",
      cost: 777,
      price,
    });
  });

  test("partial counts are completed by an estimate", () => {
    const estimate = { ...PARTIAL, output: 4 };
    expect(chargeOf({ reach: "sent", usage: PARTIAL, estimate }, RULE)).toEqual({
      state: "estimated",
      cost: 18_000,
      price,
    });
    expect(chargeOf({ reach: "sent", usage: PARTIAL }, RULE)).toMatchObject({
      state: "estimated",
      cost: 10_000,
    });
  });

  test("what was not sent is free", () => {
    expect(chargeOf({ reach: "unsent", usage: NO_USAGE, assumed: 777 }, RULE)).toEqual({
      state: "free",
      cost: 0,
    });
  });

  test("an error is free unless the provider counted tokens", () => {
    expect(chargeOf({ reach: "refused", usage: NO_USAGE }, RULE)).toEqual({ state: "free", cost: 0 });
    expect(chargeOf({ reach: "refused", usage: FINAL }, RULE)).toMatchObject({
      state: "metered",
      cost: 20_000,
    });
  });

  test("without a price nothing is free: the attempt is unpriced", () => {
    for (const usage of [FINAL, PARTIAL, NO_USAGE])
      expect(chargeOf({ reach: "sent", usage }, undefined)).toEqual({ state: "unpriced", cost: 0 });
  });

  test("a price of zero is free", () => {
    const rule: PriceRule = { ...CONFIGURED, input: 0, output: 0, cacheRead: undefined };
    expect(chargeOf({ reach: "sent", usage: { ...FINAL, cacheRead: 3 } }, rule)).toEqual({
      state: "free",
      cost: 0,
      price,
    });
  });

  test("what the rule does not contain makes the charge an estimate", () => {
    const rule = { ...RULE, cacheRead: undefined };
    expect(chargeOf({ reach: "sent", usage: { ...FINAL, cacheRead: 10 } }, rule)).toEqual({
      state: "estimated",
      cost: 30_000,
      price,
      doubt: "cache-read",
    });
  });

  test("a summary and an advisor that the totals leave out are charged, each at the price of its model", () => {
    const advisor: PriceRule = {
      ...RULE,
      ref: "ba9876543210",
      model: "huge",
      input: 9_000_000,
      output: 9_000_000,
    };
    const ruleOf = (model: string) => (model === "huge" ? advisor : undefined);
    const beside = (model?: string) => [{ model, input: 1000, cacheRead: 0, cacheWrite: 0, output: 100 }];
    const cost = (model?: string) =>
      chargeOf({ reach: "sent", usage: { ...FINAL, beside: beside(model) } }, RULE, ruleOf);
    expect(cost()).toEqual({ state: "metered", cost: 20_000 + 1_200_000, price });
    expect(cost("huge")).toEqual({ state: "metered", cost: 20_000 + 9_900_000, price });
    expect(cost("unknown")).toEqual({ state: "estimated", cost: 20_000 + 1_200_000, price, doubt: "model" });
  });

  test("the region of the deployment counts where the provider names none", () => {
    const rule = { ...RULE, regions: { global: 1, "*": 1.1 } };
    const cost = (usage: Usage, region?: string) => chargeOf({ reach: "sent", usage, region }, rule).cost;
    expect(cost(FINAL)).toBe(20_000);
    expect(cost(FINAL, "europe-west1")).toBe(22_000);
    expect(cost(FINAL, "global")).toBe(20_000);
    expect(cost({ ...FINAL, region: "global" }, "europe-west1")).toBe(20_000);
  });
});
