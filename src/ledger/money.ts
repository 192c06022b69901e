/** Money as integer nano-dollars: billionths of a US dollar. JavaScript holds them exactly up to nine million dollars. */

/** Nano-dollars; an integer. */
export type Nano = number;

/** Nano-dollars in one dollar. */
export const DOLLAR: Nano = 1_000_000_000;

/** The largest amount that weir accepts as a limit. */
export const MAX_NANO: Nano = 9_000_000 * DOLLAR;

/** @param dollars a decimal number, as a config file or a command line has it @returns undefined if it is no amount that weir accepts */
export function toNano(dollars: number): Nano | undefined {
  const nano = Math.round(dollars * DOLLAR);
  return Number.isFinite(nano) && nano >= 0 && nano <= MAX_NANO ? nano : undefined;
}

/** Dollars as a number, for JSON. */
export function toDollars(nano: Nano): number {
  return nano / DOLLAR;
}

/** Dollars for people: at least two decimals, four significant digits, and never `$0.00` for an amount that is not zero. */
export function formatNano(nano: Nano): string {
  const sign = nano < 0 ? "-" : "";
  const dollars = Math.abs(nano) / DOLLAR;
  if (dollars === 0) return "$0.00";
  const decimals = Math.min(9, Math.max(2, 3 - Math.floor(Math.log10(dollars))));
  return `${sign}$${dollars.toFixed(decimals).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}

/** An amount in a sentence for people: with commas at the thousands, and `$0` for nothing. */
export function sayNano(nano: Nano): string {
  if (nano === 0) return "$0";
  const [whole = "", ...decimals] = formatNano(nano).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...decimals].join(".");
}
