/** Durations as the config has them. */

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param text such as `15m` */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * UNITS[text.at(-1)!]!;
}
