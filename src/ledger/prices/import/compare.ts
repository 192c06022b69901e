/** Differences between two snapshots. */
import type { Units } from "../../../core/events.ts";
import type { BucketPrices } from "../../charge.ts";
import type { SnapshotLine } from "../snapshot.ts";
import { BUCKETS, dollarsOf } from "../settings.ts";
import { nameOf, restOf } from "./snapshot-text.ts";

/** A change of a price by more than this factor is more often an error of the table than a decision of the vendor. */
const JUMP = 5;

/** One line for each model that is new, gone or different. */
export function changes(before: readonly SnapshotLine[], after: readonly SnapshotLine[]): string[] {
  const old = new Map(before.map((line) => [nameOf(line), line]));
  const fresh = new Map(after.map((line) => [nameOf(line), line]));
  const gone = [...old.keys()].filter((name) => !fresh.has(name)).map((name) => `- ${name}`);
  const rest = [...fresh].flatMap(([name, line]) => {
    const previous = old.get(name);
    if (!previous) return [`+ ${name} ${briefly(line)}`];
    return restOf(previous) === restOf(line) ? [] : [`  ${name} ${briefly(previous)} → ${briefly(line)}`];
  });
  return [...gone, ...rest];
}

/** One line for each price that became more than five times dearer or cheaper. */
export function jumps(before: readonly SnapshotLine[], after: readonly SnapshotLine[]): string[] {
  const old = new Map(before.map((line) => [nameOf(line), line]));
  return after.flatMap((line) => {
    const previous = old.get(nameOf(line));
    if (!previous) return [];
    const [was, is] = [previous, line].map(({ units = {} }) => units) as [Units, Units];
    const units = Object.keys(is)
      .filter((unit) => jumped(was[unit], is[unit]))
      .map((unit) => `${nameOf(line)} ${unit} ${dollarsOf(was)[unit]} → ${dollarsOf(is)[unit]}`);
    const tokens = BUCKETS.filter((bucket) => jumped(previous[bucket], line[bucket])).map(
      (bucket) => `${nameOf(line)} ${bucket} ${dollars(previous[bucket])} → ${dollars(line[bucket])}`,
    );
    return [...tokens, ...units];
  });
}

function jumped(one: number | undefined, other: number | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return false;
  return Math.max(one, other) > JUMP * Math.min(one, other);
}

/** `2.50 in, 0.25 read, 15 out`: dollars a million tokens; `$0.002 a search`. */
function briefly(prices: Pick<SnapshotLine, keyof BucketPrices | "units" | "as">): string {
  if (prices.as !== undefined) return `as ${prices.as}`;
  const tokens = BUCKETS.filter((bucket) => prices[bucket] !== undefined).map(
    (bucket) => `${bucket} ${dollars(prices[bucket])}`,
  );
  const each = Object.entries(dollarsOf(prices.units ?? {})).map(([unit, price]) => `$${price} a ${unit}`);
  return [...tokens, ...each].join(", ");
}

function dollars(pico: number | undefined): string {
  return pico === undefined ? "none" : String(pico / 1_000_000);
}
