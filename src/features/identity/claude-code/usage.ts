/**
 * `GET /api/oauth/usage`: what a person has spent, as Claude Code shows it beside the percentage of the headers (the protocol
 * document of its own gateway, 2.1.328, "Usage-limit headers").
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { type Cap, fullest, partOf, type Standing } from "../../../core/standing.ts";

const ORDER: readonly Cap["period"][] = ["daily", "weekly", "monthly"];

/** Amounts are cents, parts whole percents. */
export function usageOf({ caps, spent }: Standing): JsonObject {
  const active = fullest(caps);
  if (!active) return withoutCap(spent);
  const rows = ORDER.flatMap((period) => caps.filter((cap) => cap.period === period));
  return {
    extra_usage: {
      ...{ is_enabled: true, monthly_limit: cents(active.limit), used_credits: cents(active.spent) },
      ...{ utilization: percent(active), currency: "USD" },
    },
    limits: rows.map((cap) => ({
      ...{ kind: "spend", group: cap.period, percent: percent(cap) },
      ...{ resets_at: new Date(cap.resetsAt).toISOString(), severity: "normal", is_active: cap === active },
    })),
  };
}

/** A client shows all three amounts or none. */
function withoutCap({ day, week, month }: Standing["spent"]): JsonObject {
  const window = (dollars: number): Json => ({
    limit: null,
    used_credits: cents(dollars),
    utilization: null,
  });
  return {
    extra_usage: {
      ...{ is_enabled: true, monthly_limit: null, used_credits: cents(month), utilization: null },
      ...{ currency: "USD", daily: window(day), weekly: window(week) },
    },
    limits: [],
  };
}

const cents = (dollars: number) => Math.round(dollars * 100);

/** Rounded down, as in the headers: what is not spent is not shown as spent. */
function percent(cap: Cap): number {
  return Math.floor(partOf(cap) * 100 + 1e-9);
}
