/** When the window of a budget begins and ends. Pure calendar arithmetic. */
import type { CapPeriod } from "../core/standing.ts";
import type { Budget, Window } from "./policy.ts";

/** Milliseconds since 1970; `endsAt` is the first moment of the next window, absent for `total`. */
export interface WindowSpan {
  startsAt: number;
  endsAt?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A calendar day: days since 1970-01-01, without a zone. */
type Day = number;

/**
 * The window that contains a moment.
 * @param ms milliseconds since 1970
 * @throws RangeError for a zone that the system does not know
 */
export function windowAt({ window, zone }: Pick<Budget, "window" | "zone">, ms: number): WindowSpan {
  if (window === "total") return { startsAt: 0 };
  if (typeof window === "object") return block(ms, window.hours * HOUR_MS);
  let first = FIRST_DAY[window](localDay(zone, ms));
  // Around a change of the clock the local day may be the one before or after the window that contains the moment.
  while (startOf(zone, first) > ms) first = FIRST_DAY[window](first - 1);
  for (;;) {
    const next = NEXT[window](first);
    const endsAt = startOf(zone, next);
    if (ms < endsAt) return { startsAt: startOf(zone, first), endsAt };
    first = next;
  }
}

/** As programs name how often a budget resets. */
export function periodOf(window: Window): CapPeriod {
  return window === "month" ? "monthly" : window === "week" ? "weekly" : "daily";
}

/** Whether `Intl` knows a zone by this name. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

function block(ms: number, length: number): WindowSpan {
  const startsAt = Math.floor(ms / length) * length;
  return { startsAt, endsAt: startsAt + length };
}

/** The first day of the window that contains a day. 1970-01-01 was a Thursday. */
const FIRST_DAY: Readonly<Record<"day" | "week" | "month", (day: Day) => Day>> = {
  day: (day) => day,
  week: (day) => day - modulo(day + 3, 7),
  month: (day) => {
    const date = new Date(day * DAY_MS);
    return dayOf(date.getUTCFullYear(), date.getUTCMonth(), 1);
  },
};

/** The first day of the next window. */
const NEXT: typeof FIRST_DAY = {
  day: (day) => day + 1,
  week: (day) => day + 7,
  month: (day) => {
    const date = new Date(day * DAY_MS);
    return dayOf(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  },
};

function dayOf(year: number, month: number, date: number): Day {
  return Date.UTC(year, month, date) / DAY_MS;
}

function localDay(zone: string, ms: number): Day {
  return Math.floor((ms + offsetOf(zone, ms)) / DAY_MS);
}

/** The first moment of a day in a zone. Where the clock skips midnight, the moment of the change. */
function startOf(zone: string, day: Day): number {
  const midnight = day * DAY_MS;
  if (zone === "UTC") return midnight;
  const before = midnight - offsetOf(zone, midnight - DAY_MS);
  const after = midnight - offsetOf(zone, midnight + DAY_MS);
  const found = [before, after]
    .filter((moment) => moment + offsetOf(zone, moment) === midnight)
    .sort((a, b) => a - b)[0];
  return found ?? Math.max(before, after);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const part = "numeric";
    format = new Intl.DateTimeFormat("en-US", {
      ...{ timeZone: zone, hourCycle: "h23", era: "short" },
      ...{ year: part, month: part, day: part, hour: part, minute: part, second: part },
    });
    formats.set(zone, format);
  }
  return format;
}

/** How far the clocks of a zone are ahead of UTC at a moment. Milliseconds. */
function offsetOf(zone: string, ms: number): number {
  if (zone === "UTC") return 0;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
