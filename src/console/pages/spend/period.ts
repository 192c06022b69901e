/** The time that Spend is about, in buckets of 5 minutes, hours or days. The sums of the books are by UTC hour and day, so the buckets are UTC too. */

export const HOUR = 3_600_000;
export const DAY = 86_400_000;
const FIVE_MINUTES = 300_000;

/** A range of the address: a relative one has a name, another one ends at `to` or goes on. */
export interface AddressRange {
  from: number;
  to?: number;
  name?: string;
}

/** Times are milliseconds since 1970. */
export interface Period {
  /** Beginning of the first bucket. */
  from: number;
  /** End of what is reported. */
  to: number;
  /** End of the last bucket; later than `to` while the period runs. */
  end: number;
  step: "5min" | "hour" | "day";
  /** The period runs: its last bucket has not ended. */
  open: boolean;
  isMonth: boolean;
}

/** @param now milliseconds since 1970 */
export function periodOf(range: AddressRange, now: number): Period {
  const { name = "" } = range;
  if (name === "month") return monthOf(now);
  if (name === "7d") return running(floor(now, DAY) - 6 * DAY, now, "day");
  if (name === "30d") return running(floor(now, DAY) - 29 * DAY, now, "day");
  if (name === "24h") return running(floor(now, HOUR) - 23 * HOUR, now, "hour");
  const hours = HOURS[name];
  if (hours === undefined) return between(range.from, range.to ?? now, now);
  return running(floor(now, FIVE_MINUTES) + FIVE_MINUTES - hours * HOUR, now, "5min");
}

const HOURS: Readonly<Record<string, number>> = { "1h": 1, "3h": 3 };

function between(from: number, to: number, now: number): Period {
  const step = to - from <= 3 * HOUR ? "5min" : to - from <= 2 * DAY ? "hour" : "day";
  const size = sizeOf(step);
  const first = floor(from, size);
  const end = Math.max(first + size, Math.ceil(to / size) * size);
  const isMonth = first === monthAt(first) && end === monthAt(first, 1);
  return { from: first, to: Math.min(end, now), end, step, open: end > now, isMonth };
}

function monthOf(now: number): Period {
  const [from, end] = [monthAt(now), monthAt(now, 1)];
  return { from, to: now, end, step: "day", open: true, isMonth: true };
}

/** Beginning of the month of a time, or of the month a number of months later. */
function monthAt(time: number, later = 0): number {
  const at = new Date(time);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later);
}

/** The period as long as this one that ends where it begins, or the next, for the address. A month is followed by a month. */
export function neighbour({ from, end, isMonth }: Period, step: -1 | 1): { from: number; to: number } {
  if (isMonth) return { from: monthAt(from, step), to: monthAt(from, step + 1) };
  const length = end - from;
  return { from: from + step * length, to: end + step * length };
}

function running(from: number, now: number, step: Period["step"]): Period {
  const size = sizeOf(step);
  return { from, to: now, end: floor(now, size) + size, step, open: true, isMonth: false };
}

export function sizeOf(step: Period["step"]): number {
  return { "5min": FIVE_MINUTES, hour: HOUR, day: DAY }[step];
}

const floor = (time: number, size: number) => Math.floor(time / size) * size;

/** The same time in the period before: as long, and as far into it. A month is compared with the one before. */
export function before({ from, to, isMonth, open }: Period): { from: number; to: number } {
  if (!isMonth) return { from: from - (to - from), to: from };
  const start = monthAt(from, -1);
  return { from: start, to: open ? Math.min(from, start + (to - from)) : from };
}

/** Starts of the buckets. */
export function bucketsOf({ from, end, step }: Period): number[] {
  const size = sizeOf(step);
  return Array.from({ length: Math.round((end - from) / size) }, (_, index) => from + index * size);
}

/**
 * The bucket that the tick of a bucket stands for: the same weekday (and hour) at least one week before, and before the period.
 * In a month that is the nearest such day of the month before.
 */
export function counterpart(bucket: number, { from }: Period): number {
  const weeks = Math.floor((bucket - from) / (7 * DAY)) + 1;
  return bucket - weeks * 7 * DAY;
}

/** Starts of the buckets that the ticks stand for: where their sums begin and end. */
export function counterparts(period: Period): { from: number; to: number } {
  const all = bucketsOf(period).map((bucket) => counterpart(bucket, period));
  return { from: Math.min(...all), to: Math.max(...all) + sizeOf(period.step) };
}

/** The name of a bucket in reports: `2026-11-22`, `2026-11-22T04`, `2026-11-22T04:05`. */
export function nameOf(bucket: number, step: Period["step"]): string {
  return new Date(bucket).toISOString().slice(0, { "5min": 16, hour: 13, day: 10 }[step]);
}

export function monthName(time: number): string {
  return new Date(time).toLocaleString("en", { month: "long", timeZone: "UTC" });
}

const SPANS: Readonly<Record<string, string>> = { "1h": "hour", "3h": "3 h", "24h": "24 h", "7d": "7 days" };

/** `November so far`, `The last 24 h`, `2 to 5 November`: how the figures of the period are called. */
export function titleOf(range: AddressRange, period: Period): string {
  if (period.isMonth) return `${monthName(period.from)}${period.open ? " so far" : ""}`;
  const span = SPANS[range.name ?? ""];
  if (span !== undefined) return `The last ${span}`;
  if (period.step !== "day")
    return `${dayName(period.from)}, ${hourName(period.from)} to ${hourName(period.end)} UTC`;
  const last = period.end - DAY;
  return last <= period.from ? dayName(period.from) : `${dayName(period.from)} to ${dayName(last)}`;
}

/** The period of comparison: `October`, `the 7 days before`. */
export function beforeTitle(range: AddressRange, period: Period): string {
  if (period.isMonth) return monthName(before(period).from);
  const span = SPANS[range.name ?? ""];
  return span === undefined ? "the time before" : `the ${span} before`;
}

/** `11 November`. */
export function dayName(time: number): string {
  return `${new Date(time).getUTCDate()} ${monthName(time)}`;
}

/** `04:00`. */
export function hourName(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}

/** The whole name of a bucket: `11 November`, `11 November, 04:00 UTC`. */
export function bucketName(bucket: number, step: Period["step"]): string {
  return step === "day" ? dayName(bucket) : `${dayName(bucket)}, ${hourName(bucket)} UTC`;
}
