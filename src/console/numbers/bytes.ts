/** Sizes as text. Input is bytes. */
import { MISSING } from "./money.ts";

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** Three significant digits in decimal units: `0 B`, `1.34 KB`, `142 MB`. */
export function bytes(number: number | null | undefined): string {
  if (number === null || number === undefined) return MISSING;
  let value = number;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]!}`;
}
