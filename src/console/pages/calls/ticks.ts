/** Round local times of an axis. */
import { hourMinute, shortDay } from "../../numbers/times.ts";

const MINUTE = 60_000;
const DAY = 1_440;
/** Minutes between two ticks. */
const STEPS = [1, 5, 10, 30, 60, 180, 360, 720, DAY, 2 * DAY, 7 * DAY];
const MOST = 6;
/** The ends have labels of their own: as a share of the width. */
const EDGE = 0.1;

export interface Tick {
  at: number;
  /** `12:00`, or `11 Nov` at midnight. */
  label: string;
  /** Place between the ends, 0 to 1. */
  share: number;
}

/** @param from and to: milliseconds since 1970 */
export function ticksOf(from: number, to: number): Tick[] {
  const span = to - from;
  const step = (STEPS.find((minutes) => span / (minutes * MINUTE) <= MOST) ?? STEPS.at(-1)!) * MINUTE;
  const midnight = new Date(from).setHours(0, 0, 0, 0);
  const ticks: Tick[] = [];
  // From midnight on: where the clock changes, days stay days.
  for (let n = 0; ; n++) {
    const at =
      step >= DAY * MINUTE
        ? new Date(midnight).setDate(new Date(midnight).getDate() + (n * step) / (DAY * MINUTE))
        : midnight + n * step;
    if (at >= to) return ticks;
    const share = (at - from) / span;
    if (share > EDGE && share < 1 - EDGE) ticks.push({ at, share, label: labelOf(at) });
  }
}

function labelOf(at: number): string {
  const text = hourMinute(at);
  return text === "00:00" ? shortDay(at) : text;
}
