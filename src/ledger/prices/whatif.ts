/** The cost that attempts would have had with other models. Pure arithmetic over what was counted. */
import type { Usage } from "../../core/events.ts";
import type { PriceRule } from "../charge.ts";
import { matchesModel, namesOf } from "../../core/model-pattern.ts";
import type { Nano } from "../money.ts";
import { priceUsage, withoutTiers } from "./price.ts";

/** One attempt, or the sum of several, which are taken for requests of one length. */
export interface UsedTarget {
  provider: string;
  model: string;
  calls: number;
  usage: Usage;
  /** The booked amount. */
  cost: Nano;
}

export interface WhatIfRow {
  /** `provider/model` */
  from: string;
  to: string;
  calls: number;
  now: Nano;
  /** Absent without a price of the other model. */
  then?: Nano;
  why?: string;
}

export interface WhatIfSums {
  calls: number;
  now: Nano;
  /** With what was booked for rows that have no `then`. */
  then: Nano;
  /** One for each pair of models. */
  rows: readonly WhatIfRow[];
}

/**
 * @param map the other model, `provider/model` or a model of the same provider, by `provider/model`, by the model alone, or by a
 * pattern over both. What it does not contain, and a model that is mapped to itself, keeps what was booked.
 */
export function whatIf(
  used: Iterable<UsedTarget>,
  map: Readonly<Record<string, string>>,
  lookup: (provider: string, model: string) => PriceRule | undefined,
): WhatIfSums {
  const rows = new Map<string, WhatIfRow>();
  for (const one of used) {
    const from = `${one.provider}/${one.model}`;
    const to = otherOf(one, map) ?? from;
    const key = `${from}\n${to}`;
    const row = rows.get(key) ?? { from, to, calls: 0, now: 0 };
    row.calls += one.calls;
    row.now += one.cost;
    const cost = to === from ? one.cost : costOf(one, to, lookup);
    if (cost === undefined) row.why ??= `the price of ${to} is not known`;
    else row.then = (row.then ?? 0) + cost;
    rows.set(key, row);
  }
  const list = [...rows.values()];
  const sum = (amount: (row: WhatIfRow) => number) => list.reduce((total, row) => total + amount(row), 0);
  return {
    calls: sum(({ calls }) => calls),
    now: sum(({ now }) => now),
    then: sum(({ now, then }) => then ?? now),
    rows: list,
  };
}

function otherOf({ provider, model }: UsedTarget, map: Readonly<Record<string, string>>): string | undefined {
  const names = namesOf(provider, model);
  const pattern = Object.keys(map).find((text) => matchesModel(text, names)) ?? "";
  const found = map[`${provider}/${model}`] ?? map[model] ?? map[pattern];
  return found === undefined || found.includes("/") ? found : `${provider}/${found}`;
}

function costOf(
  { calls, usage }: UsedTarget,
  to: string,
  lookup: (provider: string, model: string) => PriceRule | undefined,
): Nano | undefined {
  const slash = to.indexOf("/");
  const rule = lookup(to.slice(0, slash), to.slice(slash + 1));
  if (!rule) return undefined;
  // Tiers, regions and speeds are words of the provider that served the call.
  const { tier: _tier, region: _region, speed: _speed, reported: _reported, ...counts } = usage;
  const input = counts.input + counts.cacheRead + counts.cacheWrite;
  const { cost } = priceUsage(counts, withoutTiers(rule, Math.ceil(input / Math.max(1, calls))));
  return cost + Math.max(0, calls - 1) * (rule.per?.request ?? 0);
}
