/** The holds that admission would take for a request, as JSON for people and tests. */
import type { JsonObject } from "../../core/json.ts";
import type { BucketPrices, PriceRule } from "../charge.ts";
import { DOLLAR } from "../money.ts";
import type { Subject } from "../policy.ts";
import { BUCKETS, dollarsOf } from "../prices/settings.ts";
import type { Booking } from "./booking.ts";
import type { Line } from "./share.ts";

/** Amounts are dollars; prices are dollars a million tokens. */
export function describeBooking(booking: Booking): JsonObject {
  const { rule, lines } = booking.applied;
  const money = lines.filter(({ unit }) => unit === "money");
  const rates = lines.filter(({ unit }) => unit !== "money");
  return {
    hold: rule ? booking.cost / DOLLAR : null,
    most: rule ? booking.fullCost / DOLLAR : null,
    tokens: { input: booking.input, output: booking.output },
    price: rule ? describeRule(rule) : null,
    budgets: money.map(describeBudget),
    rates: rates.map((line) => ({
      name: line.name,
      unit: line.unit,
      on: describeSubject(line.on),
      need: booking.need(line),
    })),
  };
}

function describeRule({ source, ref, ...rule }: PriceRule): JsonObject {
  return {
    ...dollars(rule),
    ...(rule.tiers && { tiers: rule.tiers.map((tier) => ({ above: tier.above, ...dollars(tier) })) }),
    ...(rule.units && { units: dollarsOf(rule.units) }),
    source,
    ref,
  };
}

/** Pico-dollars a token are millionths of dollars a million tokens. */
function dollars(prices: BucketPrices): JsonObject {
  const set = BUCKETS.filter((bucket) => prices[bucket] !== undefined);
  return Object.fromEntries(set.map((bucket) => [bucket, prices[bucket]! / 1e6]));
}

function describeBudget({ name, mode, on, budget }: Line): JsonObject {
  const { window, limit } = budget!;
  return {
    name,
    mode,
    on: describeSubject(on),
    window: typeof window === "string" ? window : `${window.hours} h`,
    limit: limit / DOLLAR,
  };
}

/** `path /eng` */
function describeSubject({ kind, what }: Subject): string {
  return what === "" ? kind : `${kind} ${what}`;
}
