/** `weir prices`: what weir charges for a model, and for which it has no price. */
import type { BucketPrices, PriceRule } from "../../ledger/charge.ts";
import type { Command } from "../command.ts";
import { table } from "../terminal.ts";
import { listAll } from "./api.ts";
import { bookCommand } from "./command.ts";
import { showCount } from "./show.ts";

const BUCKETS = [
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
] as const satisfies readonly (keyof BucketPrices)[];

const pricesShow = bookCommand({
  name: "prices show",
  summary: "show the prices of models whose name contains a text, in dollars a million tokens",
  words: [{ name: "MODEL", optional: true }],
  async run({ api, words: [q], show }) {
    const prices = await listAll<PriceRule>(api, "/prices", "prices", { q });
    show(prices, () =>
      prices.length === 0 ? `No price for ${q ?? "any model"} is known.` : priceTable(prices),
    );
  },
});

function priceTable(prices: readonly PriceRule[]): string {
  const rows = prices.map((rule) => [
    `${rule.provider}/${rule.model}`,
    ...BUCKETS.map((bucket) => dollars(rule[bucket])),
    rule.tiers?.map(({ above }) => `above ${showCount(above)}`).join(", ") ?? "",
    rule.source,
  ]);
  return table([
    ["model", "input", "cache read", "cache write", "output", "other prices", "source"],
    ...rows,
  ]);
}

/** Pico-dollars a token are millionths of dollars a million tokens. */
function dollars(pico: number | undefined): string {
  return pico === undefined ? "" : String(pico / 1e6);
}

const pricesMissing = bookCommand({
  name: "prices missing",
  summary: "list the models that were used without a price",
  async run({ api, show }) {
    const { targets } = await api.send<{ targets: { provider: string; model: string; calls: number }[] }>(
      "GET",
      "/prices/missing",
    );
    show(targets, () => {
      if (targets.length === 0) return "Every model that was used has a price.";
      const rows = targets.map(({ provider, model, calls }) => [`${provider}/${model}`, showCount(calls)]);
      const [first] = targets;
      return `${table([["model", "calls"], ...rows])}\nGive a price in weir.yaml, in dollars a million tokens:\n  prices:\n    "${first!.provider}/${first!.model}": {input: 1, output: 2}`;
    });
  },
});

export const PRICE_COMMANDS: readonly Command[] = [pricesShow, pricesMissing];
