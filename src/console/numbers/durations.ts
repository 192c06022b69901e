/** Durations as text. Input is milliseconds. */
import { MISSING } from "./money.ts";

/** `<1 ms` for 0, because the store keeps whole milliseconds; `0.41 ms`, `578 ms`, `8.42 s`, `15.1 s`, `1 min 12 s`, `2 h 05 min`, `3 d 4 h`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return MISSING;
  if (ms === 0) return "<1 ms";
  if (ms < 0.995) return `${ms.toFixed(2)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor(minutes / 60) % 24} h`;
}

/** An age in one unit: `16 s`, `4 min`, `3 h`, `6 d`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_570) return `${Math.round(seconds / 60)} min`;
  if (seconds < 84_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const two = (number: number) => String(number).padStart(2, "0");
