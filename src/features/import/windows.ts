/** Durations of other gateways as windows of weir's budgets, and as days. */

export interface BudgetWindow {
  every: string;
  /** The difference from the source, as a clause. */
  why?: string;
}

/** Hours of each unit. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1 / 3600,
  m: 1 / 60,
  h: 1,
  d: 24,
  w: 168,
  mo: 720,
  M: 720,
  y: 8760,
  Y: 8760,
};
const NAMED: Readonly<Record<string, string>> = {
  daily: "1d",
  weekly: "7d",
  monthly: "1mo",
};
const MAX_HOURS = 8784;

/**
 * The window of weir that is nearest to a duration such as `30d`, `1mo`, `1M`, `1w` or `12h`.
 * @param text undefined: the budget never resets @returns undefined for a text that is no duration
 */
export function budgetWindow(text: string | undefined): BudgetWindow | undefined {
  if (text === undefined) return { every: "total" };
  const written = NAMED[text] ?? text;
  const [, number = "", unit = ""] = /^(\d+)\s*(mo|[smhdwMyY])$/.exec(written) ?? [];
  const hours = Number(number) * (UNITS[unit] ?? 0);
  if (hours === 0) return undefined;
  if (hours === 24) return { every: "day" };
  if (hours === 168) return { every: "week" };
  if (number === "1" && (unit === "mo" || unit === "M")) return { every: "month" };
  if (hours === 720) return { every: "month", why: "weir counts calendar months" };
  if (hours < 1)
    return { every: "1h", why: "the shortest window of weir is an hour, so the budget is stricter" };
  if (hours > MAX_HOURS)
    return { every: "total", why: "the longest window of weir is a year, so the budget does not reset" };
  return { every: `${Math.round(hours)}h` };
}

/** The days of a duration, rounded up. */
export function days(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d+)\s*(mo|[smhdwMyY])$/.exec(text) ?? [];
  const hours = Number(number) * (UNITS[unit] ?? 0);
  return hours === 0 ? undefined : Math.max(1, Math.ceil(hours / 24));
}
