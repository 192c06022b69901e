/** The range of time that a page shows, from `?range=3h` or `?from=&to=`. */

/** The choices, by the value in the address. */
export const RANGES: readonly (readonly [string, string])[] = [
  ["1h", "1 h"],
  ["3h", "3 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
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
