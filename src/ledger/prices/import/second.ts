/** Compares the snapshot with the list of genai-prices, an independent table. */
import type { BucketPrices } from "../../charge.ts";
import type { SnapshotLine } from "../snapshot.ts";
import { nameOf } from "./snapshot-text.ts";

/** A provider of the list. Prices are dollars a million tokens. */
interface SecondProvider {
  id: string;
  models: readonly { id: string; prices: unknown }[];
}

/** Names of providers where the list and weir differ. */
const IDS: Readonly<Record<string, string>> = { google: "gemini", "x-ai": "xai", aws: "bedrock" };

const MEMBERS: Readonly<Partial<Record<keyof BucketPrices, string>>> = {
  input: "input_mtok",
  cacheRead: "cache_read_mtok",
  cacheWrite: "cache_write_mtok",
  output: "output_mtok",
};

/** A larger difference is reported. */
const TOLERANCE = 0.001;

/** One line for each price that differs. Models that one of the tables does not have are left out. */
export function disagreements(lines: readonly SnapshotLine[], list: readonly SecondProvider[]): string[] {
  const own = new Map(lines.map((line) => [nameOf(line), line]));
  return list.flatMap(({ id, models }) =>
    models.flatMap((model) => {
      const line = own.get(`${IDS[id] ?? id}/${model.id}`);
      const prices = currentOf(model.prices);
      if (!line || !prices) return [];
      return Object.entries(MEMBERS).flatMap(([bucket, member]) => {
        const mine = line[bucket as keyof BucketPrices];
        const theirs = baseOf(prices[member]);
        if (mine === undefined || theirs === undefined) return [];
        const other = theirs * 1_000_000;
        if (Math.abs(mine - other) <= TOLERANCE * Math.max(mine, other)) return [];
        return [`${nameOf(line)} ${bucket}: ${mine / 1_000_000} here, ${theirs} there`];
      });
    }),
  );
}

/** The prices that hold: the list has several for models whose price changed, the newest last. */
function currentOf(prices: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(prices)) return prices as Record<string, unknown> | undefined;
  const last = prices.at(-1) as { prices?: Record<string, unknown> } | undefined;
  return last?.prices;
}

/** A number, or the base of a price with tiers. */
function baseOf(price: unknown): number | undefined {
  const value = typeof price === "object" && price !== null ? (price as { base?: unknown }).base : price;
  return value === undefined || value === null ? undefined : Number(value);
}
