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

/** A price and the first day on which it holds. */
interface Dated {
  from: string;
  prices: Readonly<Record<string, unknown>>;
}

/**
 * One line for each price that differs on a day. Models that one of the tables does not have are left out.
 * @param day of the snapshot: `2026-11-20`
 */
export function disagreements(
  lines: readonly SnapshotLine[],
  list: readonly SecondProvider[],
  day: string,
): string[] {
  return inBoth(lines, list).flatMap(([line, dated]) => {
    const prices = dated.findLast(({ from }) => from <= day)?.prices ?? {};
    return Object.entries(MEMBERS).flatMap(([bucket, member]) => {
      const mine = line[bucket as keyof BucketPrices];
      const theirs = baseOf(prices[member]);
      if (mine === undefined || theirs === undefined) return [];
      const other = theirs * 1_000_000;
      if (Math.abs(mine - other) <= TOLERANCE * Math.max(mine, other)) return [];
      return [`${nameOf(line)} ${bucket}: ${mine / 1_000_000} here, ${theirs} there`];
    });
  });
}

/** One line for each model whose price changes after a day: that is when a new import is due. */
export function comingChanges(
  lines: readonly SnapshotLine[],
  list: readonly SecondProvider[],
  day: string,
): string[] {
  return inBoth(lines, list).flatMap(([line, dated]) =>
    dated
      .filter(({ from }) => from > day)
      .map(({ from, prices }) => `${from} ${nameOf(line)} ${JSON.stringify(prices)}`),
  );
}

function inBoth(
  lines: readonly SnapshotLine[],
  list: readonly SecondProvider[],
): (readonly [SnapshotLine, readonly Dated[]])[] {
  const own = new Map(lines.map((line) => [nameOf(line), line]));
  return list.flatMap(({ id, models }) =>
    models.flatMap((model) => {
      const line = own.get(`${IDS[id] ?? id}/${model.id}`);
      return line ? [[line, datedOf(model.prices)] as const] : [];
    }),
  );
}

/** The list has one group of prices, or several with the day from which each holds. */
function datedOf(prices: unknown): readonly Dated[] {
  if (!Array.isArray(prices)) return [{ from: "", prices: prices as Dated["prices"] }];
  const groups = prices as { constraint?: { start_date?: string }; prices: Dated["prices"] }[];
  return groups.map(({ constraint, prices }) => ({ from: constraint?.start_date ?? "", prices }));
}

/** A number, or the base of a price with tiers. */
function baseOf(price: unknown): number | undefined {
  const value = typeof price === "object" && price !== null ? (price as { base?: unknown }).base : price;
  return value === undefined || value === null ? undefined : Number(value);
}
