/** What weir books and holds for what a price rule does not contain: never zero, never less than it may cost, and in doubt. */
import { describe, expect, test } from "bun:test";
import { NO_USAGE, type Usage } from "../../../src/core/events.ts";
import type { PriceDoubt, PriceRule } from "../../../src/ledger/charge.ts";
import { PriceBook } from "../../../src/ledger/prices/book.ts";
import { chargeOf } from "../../../src/ledger/prices/charge-of.ts";
import { linesOf } from "../../../src/ledger/prices/lines.ts";
import { costAtMost, priceUsage } from "../../../src/ledger/prices/price.ts";
import { shippedSnapshot } from "../../../src/ledger/prices/shipped.ts";
import { SEARCH_AT_MOST, serverToolsAtMost } from "../../../src/ledger/prices/unknown.ts";

/** $1 in, $2 out. */
const RULE: PriceRule = {
  ref: "0123456789ab",
  provider: "acme",
  model: "acme-large",
  input: 1_000_000,
  output: 2_000_000,
  source: "litellm 2026-11-01",
};
const CONFIG: PriceRule = { ...RULE, source: "config" };
const used = (more: Partial<Usage>): Usage => ({ ...NO_USAGE, input: 1_000, output: 500, ...more });
/** Without the unknown. */
const PLAIN = 2_000_000;

describe("without its price", () => {
  test.each<[string, Partial<Usage>, number, PriceDoubt]>([
    ["a search", { searches: 1 }, PLAIN + SEARCH_AT_MOST, "search"],
    ["three searches", { searches: 3 }, PLAIN + 3 * SEARCH_AT_MOST, "search"],
    ["a fast speed", { speed: "fast" }, 6 * PLAIN, "speed"],
    ["a speed of another name", { speed: "TURBO" }, 6 * PLAIN, "speed"],
    ["a priority tier", { tier: "priority" }, 2.5 * PLAIN, "tier"],
    ["a priority tier by another name", { tier: "ON_DEMAND_PRIORITY" }, 2.5 * PLAIN, "tier"],
    ["a tier that nobody knows", { tier: "platinum" }, 2.5 * PLAIN, "tier"],
    ["the fastest tier", { tier: "ultrafast" }, 6 * PLAIN, "tier"],
    ["a slow tier", { tier: "flex" }, PLAIN, "tier"],
    ["a tier that was paid for in advance", { tier: "scale" }, PLAIN, "tier"],
  ])("%s costs the most that it can, in doubt, and its lines add up", (_what, more, cost, doubt) => {
    const usage = used(more);
    expect(priceUsage(usage, RULE)).toEqual({ cost, doubt });
    const charge = chargeOf({ reach: "sent", usage: { ...usage, known: "final" } }, RULE);
    expect(charge).toEqual({ state: "estimated", cost, doubt, price: RULE.ref });
    const lines = linesOf(usage, charge, RULE)!;
    expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(cost);
  });

  test.each(["standard", "STANDARD", "default", undefined])("the usual speed is metered: %p", (speed) => {
    expect(priceUsage(used({ speed }), RULE)).toEqual({ cost: PLAIN });
  });

  test("a price of the config is for each tier and speed, and says what a search costs", () => {
    expect(priceUsage(used({ tier: "platinum", speed: "fast" }), CONFIG)).toEqual({ cost: PLAIN });
    expect(priceUsage(used({ searches: 2 }), { ...CONFIG, per: { search: 0 } })).toEqual({ cost: PLAIN });
    expect(priceUsage(used({ searches: 2 }), CONFIG).doubt).toBe("search");
  });

  test("what is held covers what is booked, for each tier and speed that a client can ask for", () => {
    for (const tier of [undefined, "auto", "priority", "flex", "platinum", "ultrafast"])
      for (const speed of [undefined, "standard", "fast", "warp"]) {
        const held = costAtMost(RULE, { input: 1_000, output: 500, tier, speed });
        expect(held).toBeGreaterThanOrEqual(priceUsage(used({ tier, speed }), RULE).cost);
      }
  });

  test("tools of the provider hold more where a search is dear, or has no price", () => {
    const expected = 100_000_000;
    expect(serverToolsAtMost({ ...RULE, per: { search: 10_000_000 } }, expected)).toBe(expected);
    expect(serverToolsAtMost({ ...RULE, per: { search: 5_000_000 } }, expected)).toBe(expected);
    expect(serverToolsAtMost({ ...RULE, per: { search: 25_000_000 } }, expected)).toBe(250_000_000);
    expect(serverToolsAtMost({ ...RULE, per: { searched: 35_000_000 } }, expected)).toBe(expected);
    expect(serverToolsAtMost(RULE, expected)).toBe(10 * SEARCH_AT_MOST);
  });
});

describe("the shipped price book", () => {
  test("has no search, tier or speed that is dearer than what is booked without a price", () => {
    for (const { input = 0, output = 0, served = {}, speeds = {}, per = {} } of shippedSnapshot().lines()) {
      expect(Math.max(per.search ?? 0, per.searched ?? 0)).toBeLessThanOrEqual(SEARCH_AT_MOST);
      for (const [name, set] of Object.entries(served)) {
        const bare: PriceRule = { ...RULE, input, output };
        const most = priceUsage(used({ tier: name }), bare).cost;
        expect(most).toBeGreaterThanOrEqual(priceUsage(used({}), { ...bare, ...set }).cost);
      }
      for (const factor of Object.values(speeds)) expect(factor).toBeLessThanOrEqual(6);
    }
  });

  /** The vendors' own pages, 2026-11: a cent for a search, $0.025 with GPT-4 models. */
  test.each([
    ["anthropic", "claude-haiku-4-5", 10_000_000],
    ["openai", "gpt-5.4", 10_000_000],
    ["openai", "gpt-5-codex", 10_000_000],
    ["openai", "o3-deep-research", 10_000_000],
    ["openai", "o4-mini-deep-research", 10_000_000],
    ["openai", "gpt-4o", 25_000_000],
  ])("a search of %s/%s costs what it costs with the models of its family", (provider, model, search) => {
    const rule = new PriceBook().lookup(provider, model)!;
    expect(rule.per).toEqual({ search });
    expect(priceUsage(used({ searches: 3 }), rule).doubt).toBeUndefined();
  });

  test("a model without a family has no price of a search", () => {
    expect(new PriceBook().lookup("openai", "text-embedding-3-small")!.per).toBeUndefined();
    expect(new PriceBook().lookup("mistral", "mistral-large-latest")?.per).toBeUndefined();
  });

  test("is listed in less than a second, with the prices of families", () => {
    const began = performance.now();
    expect(new PriceBook().list().length).toBeGreaterThan(1_500);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
