/** Budgets as people write them: `50/month`, `0.5/5h`, `100/total`. */
import { toNano } from "./money.ts";
import type { Budget, Window } from "./policy.ts";

const NAMED = ["day", "week", "month", "total"] as const;
/** Longest rolling window: a year. */
const MAX_HOURS = 8784;

/** @param text `hour`, `day`, `week`, `month`, `total` or hours: `5h` @returns undefined for another text */
export function parseWindow(text: string): Window | undefined {
  const named = NAMED.find((name) => name === text);
  if (named) return named;
  if (text === "hour") return { hours: 1 };
  const hours = Number(/^([1-9]\d{0,3})h$/.exec(text)?.[1] ?? 0);
  return hours > 0 && hours <= MAX_HOURS ? { hours } : undefined;
}

/** @param text dollars and a window: `50/month` @returns undefined for another text */
export function parseBudget(text: string): Pick<Budget, "limit" | "window"> | undefined {
  const [dollars = "", every = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\$?\d+(\.\d+)?$/.test(dollars)) return undefined;
  const limit = toNano(Number(dollars.replace("$", "")));
  const window = parseWindow(every);
  return limit === undefined || window === undefined ? undefined : { limit, window };
}
