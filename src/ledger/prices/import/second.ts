/** The list of genai-prices, an independent table: what differs from the snapshot, and models that the first table lacks. */
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
  cacheReadAudio: "cache_audio_read_mtok",
  cacheWrite: "cache_write_mtok",
  output: "output_mtok",
  audioIn: "input_audio_mtok",
  audioOut: "output_audio_mtok",
};

/** Providers whose models the first table has left out while they are served. */
const GAPS: ReadonlySet<string> = new Set(["groq", "together"]);

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
      const name = `${nameOf(line)} ${bucket}`;
      return [
        ...(isSame(mine, theirs) ? [] : [`${name}: ${mine / 1_000_000} here, ${theirs} there`]),
        ...tierDifferences(name, bucket as keyof BucketPrices, line, prices[member]),
      ];
    });
  });
}

function isSame(pico: number, dollars: number): boolean {
  const other = dollars * 1_000_000;
  return Math.abs(pico - other) <= TOLERANCE * Math.max(pico, other);
}

/** Prices of long requests: where they begin, and how high they are. */
function tierDifferences(
  name: string,
  bucket: keyof BucketPrices,
  { tiers: own = [] }: SnapshotLine,
  price: unknown,
): string[] {
  const theirs = tiersOf(price);
  const show = (tiers: readonly Tier[]) =>
    tiers.map(({ above, dollars }) => `${dollars} above ${above}`).join(", ") || "no tiers";
  const mine = own.flatMap(({ above, ...prices }) => {
    const pico = prices[bucket];
    return pico === undefined ? [] : [{ above, dollars: pico / 1_000_000 }];
  });
  const isEqual =
    mine.length === theirs.length &&
    mine.every(
      ({ above, dollars }, at) =>
        above === theirs[at]!.above && isSame(dollars * 1_000_000, theirs[at]!.dollars),
    );
  return isEqual ? [] : [`${name}, long requests: ${show(mine)} here, ${show(theirs)} there`];
}

/** Dollars a million tokens for requests of more than `above` tokens. */
interface Tier {
  above: number;
  dollars: number;
}

function tiersOf(price: unknown): Tier[] {
  const tiers =
    typeof price === "object" && price !== null ? (price as { tiers?: unknown }).tiers : undefined;
  if (!Array.isArray(tiers)) return [];
  return (tiers as { start: unknown; price: unknown }[]).map(({ start, price: dollars }) => ({
    above: Number(start),
    dollars: Number(dollars),
  }));
}

/**
 * Lines for models that the first table lacks, of providers in {@link GAPS}.
 * @param source `genai-prices 2026-11-22`, of each line
 */
export function missingLines(
  lines: readonly SnapshotLine[],
  list: readonly SecondProvider[],
  day: string,
  source: string,
): SnapshotLine[] {
  const known = new Set(lines.map(nameOf));
  return list.flatMap(({ id, models }) =>
    models.flatMap((model) => {
      const name = { provider: IDS[id] ?? id, model: model.id };
      if (!GAPS.has(name.provider) || known.has(nameOf(name))) return [];
      const prices = datedOf(model.prices).findLast(({ from }) => from <= day)?.prices ?? {};
      const [input, output] = [baseOf(prices.input_mtok), baseOf(prices.output_mtok)];
      if (!input || !output) return [];
      const cacheRead = baseOf(prices.cache_read_mtok);
      const pico = (dollars: number) => Math.round(dollars * 1_000_000);
      return [
        {
          ...name,
          input: pico(input),
          ...(cacheRead !== undefined && { cacheRead: pico(cacheRead) }),
          output: pico(output),
          source,
        },
      ];
    }),
  );
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
