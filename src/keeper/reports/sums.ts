/** The sums of an hour as its calls and attempts give them, in SQL: the audit compares them with those that weir keeps. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { HOUR_MS } from "../record/roll-ups.ts";

/** The place of each state in {@link CHARGE_STATES}, as columns have it. */
export const STATE = Object.fromEntries(CHARGE_STATES.map((state, index) => [state, index])) as Record<
  (typeof CHARGE_STATES)[number],
  number
>;

/** The hour of a row with the column `at`. */
export const HOUR = `at - at % ${HOUR_MS}`;

/** Sums of calls. */
export const OF_CALLS = [
  "calls",
  "failed",
  "refused",
  "attempts",
  "input",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "output",
  "reasoning",
  "cost",
  "ms",
  "first_ms",
] as const;

/** What a row of `calls` adds to {@link OF_CALLS}. */
export const CALL_ADDS = `1 AS calls, CASE WHEN outcome = 1 THEN 1 ELSE 0 END AS failed,
         CASE WHEN refused > 0 THEN 1 ELSE 0 END AS refused, tries AS attempts, input, cache_read, cache_write,
         cache_write_1h, output, reasoning, cost, ms, coalesce(first_ms, 0) AS first_ms`;

/** Sums that only attempts have. */
export const OF_STATES = ["reported", "estimated", "assumed", "unpriced"] as const;

/** What an attempt adds to {@link OF_STATES}. */
export const STATE_ADDS = OF_STATES.map(
  (state) =>
    `CASE WHEN state = ${STATE[state]} THEN ${state === "unpriced" ? "1" : "cost"} ELSE 0 END AS ${state}`,
).join(", ");

/** Sums of attempts. */
export const OF_ATTEMPTS = ["attempts", "cost", ...OF_STATES] as const;
