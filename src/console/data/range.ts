/** The range of time that a page shows, from `?range=3h` or `?from=&to=`. */

/** The choices, by the value in the address. */
export const RANGES: readonly (readonly [string, string])[] = [
  ["1h", "1 h"],
  ["3h", "3 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
  ["30d", "30 d"],
  ["month", "Month"],
];

export interface TimeRange {
  /** Milliseconds since 1970. */
  from: number;
  /** Absent: until now, so that the range goes on. */
  to?: number;
  /** The value in the address, unless it is a range with two ends. */
  name?: string;
}

const HOUR = 3_600_000;
const SPANS: Readonly<Record<string, number>> = {
  "1h": HOUR,
  "3h": 3 * HOUR,
  "24h": 24 * HOUR,
  "7d": 168 * HOUR,
  "30d": 720 * HOUR,
};

/** @param usual the range without one in the address */
export function rangeOf(query: Readonly<Record<string, string>>, usual = "24h", now = Date.now()): TimeRange {
  const from = timeOf(query["from"]);
  if (from !== undefined) {
    const to = timeOf(query["to"]);
    return { from, ...(to !== undefined && { to }) };
  }
  const name = query["range"] ?? usual;
  // A range that moves with each second would be a new request each second.
  const minute = Math.floor(now / 60_000) * 60_000;
  const span = SPANS[name];
  if (span !== undefined) return { from: minute - span, name };
  const date = new Date(now);
  return { from: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1), name: "month" };
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const time = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(time) ? time : undefined;
}

/** `2026-11-24 09:00`, or a date alone, which begins at midnight. @returns milliseconds since 1970; undefined for other text */
export function readTime(text: string, isUtc: boolean): number | undefined {
  const [, day, time = "00:00"] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d))?$/.exec(text.trim()) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${isUtc ? "Z" : ""}`);
  return Number.isFinite(at) ? at : undefined;
}

/** As {@link readTime} reads it. @param at milliseconds since 1970 */
export function writeTime(at: number, isUtc: boolean): string {
  const shift = isUtc ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shift).toISOString().slice(0, 16).replace("T", " ");
}

/** @param now milliseconds since 1970 */
export function yesterday(now: number, isUtc: boolean): [from: number, to: number] {
  return daysOf(now, isUtc, (year, month, day) => [
    [year, month, day - 1],
    [year, month, day],
  ]);
}

/** @param now milliseconds since 1970 */
export function lastMonth(now: number, isUtc: boolean): [from: number, to: number] {
  return daysOf(now, isUtc, (year, month) => [
    [year, month - 1, 1],
    [year, month, 1],
  ]);
}

type Day = [year: number, month: number, day: number];

function daysOf(
  now: number,
  isUtc: boolean,
  ends: (...today: Day) => [Day, Day],
): [from: number, to: number] {
  const date = new Date(now);
  const today: Day = isUtc
    ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
    : [date.getFullYear(), date.getMonth(), date.getDate()];
  const [from, to] = ends(...today).map((day) => (isUtc ? Date.UTC(...day) : new Date(...day).getTime()));
  return [from!, to!];
}
