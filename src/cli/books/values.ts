/** Reads amounts, durations, months and lists from the command line. */
import { type Nano, toNano } from "../../ledger/money.ts";
import type { Window } from "../../ledger/policy.ts";
import { type Context, UsageError } from "../command.ts";

type Flags = Context["flags"];

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The text of a flag that takes a value. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** The entries of a flag whose value has commas. */
export function listOf(flags: Flags, name: string): string[] | undefined {
  const entries = textOf(flags, name)
    ?.split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
  return entries && entries.length > 0 ? entries : undefined;
}

/** @throws UsageError if the value is no positive integer */
export function countOf(flags: Flags, name: string): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isSafeInteger(count) || count <= 0)
    throw new UsageError(`${name} requires a positive integer; "${text}" is none`);
  return count;
}

/** `90d`, `24h`, `5s`. @returns milliseconds @throws UsageError */
export function durationOf(flags: Flags, name: string): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const duration = readDuration(text);
  if (duration === undefined)
    throw new UsageError(`${name} requires a duration such as 90d, 24h, 15m or 5s; "${text}" is none`);
  return duration;
}

/** A moment: a duration before now, a day or a time in ISO form. @returns milliseconds since 1970 @throws UsageError */
export function sinceOf(flags: Flags, name: string, now: number): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const duration = readDuration(text);
  if (duration !== undefined) return now - duration;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(at)) return at;
  throw new UsageError(
    `${name} requires a duration such as 7d, or a day such as 2026-11-01; "${text}" is neither`,
  );
}

function readDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text);
  return match ? Math.round(Number(match[1]) * UNITS[match[2]!]!) : undefined;
}

/** `412.33` or `$412.33`. @throws UsageError */
export function readAmount(text: string, what: string): Nano {
  const nano = /^\$?\d+(\.\d+)?$/.test(text) ? toNano(Number(text.replace("$", ""))) : undefined;
  if (nano === undefined)
    throw new UsageError(
      `${what} requires dollars such as 50 or 0.25, at most 9000000; "${text}" is not possible`,
    );
  return nano;
}

/** `50/month`, `0.5/day`, `5/hour`, `20/5h`, `100` for a budget without a window. @throws UsageError */
export function readBudget(text: string, what: string): { limit: Nano; window: Window } {
  const [amount = "", window = "total", more] = text.split("/");
  if (more !== undefined)
    throw new UsageError(`${what} requires an amount such as 50/month; "${text}" is none`);
  return { limit: readAmount(amount, what), window: readWindow(window, what) };
}

function readWindow(text: string, what: string): Window {
  if (text === "day" || text === "week" || text === "month" || text === "total") return text;
  const hours = Number(text === "hour" ? 1 : (/^(\d{1,4})h$/.exec(text)?.[1] ?? 0));
  if (hours > 0 && hours <= 8_760) return { hours };
  throw new UsageError(
    `${what} ends in hour, day, week, month, total or a number of hours such as 5h; "${text}" is none`,
  );
}
