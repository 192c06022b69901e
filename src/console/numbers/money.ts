/** Money as text. Amounts are integer nano-dollars. */

/** The sign for a missing figure. */
export const MISSING = "–";
const MINUS = "−";

/**
 * An amount: cents with thousands from $10 on, four significant digits below, `$0` for a true zero only.
 * @param nano undefined for an amount that does not exist
 */
export function dollars(nano: number | null | undefined): string {
  if (nano === null || nano === undefined) return MISSING;
  if (nano === 0) return "$0";
  const sign = nano < 0 ? MINUS : "";
  const amount = Math.abs(nano) / 1e9;
  // 9.9996 would be printed as $10.000.
  if (amount >= 9.9995) return `${sign}$${cents(amount)}`;
  const digits = Math.min(9, 3 - Math.floor(Math.log10(Number(amount.toPrecision(4)))));
  return `${sign}$${amount.toFixed(digits)}`;
}

function cents(amount: number): string {
  return amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** All nine decimals: `$0.027265500`. */
export function exactDollars(nano: number): string {
  return lineOf(nano, 9);
}

/** Decimals that all these amounts need to be written without rounding; at least two. */
export function placesOf(amounts: readonly number[]): number {
  return Math.max(2, ...amounts.map(decimalsOf));
}

function decimalsOf(nano: number): number {
  let places = 9;
  for (let rest = Math.abs(nano); places > 0 && rest % 10 === 0; rest /= 10) {
    if (rest === 0) return 0;
    places -= 1;
  }
  return places;
}

/** A line of a ledger: an amount with this many decimals, by integer arithmetic. */
export function lineOf(nano: number, places: number): string {
  const rounded = Math.round(Math.abs(nano) / 10 ** (9 - places));
  const unit = 10 ** places;
  const whole = Math.floor(rounded / unit).toLocaleString("en-US");
  const fraction = places === 0 ? "" : `.${String(rounded % unit).padStart(places, "0")}`;
  return `${nano < 0 && rounded !== 0 ? MINUS : ""}$${whole}${fraction}`;
}

/** Dollars a million tokens from pico-dollars a token: 2,500,000 is `2.50`. */
export function perMillion(pico: number): string {
  const price = pico / 1e6;
  const least = price !== 0 && price < 0.1 ? 3 : 2;
  return price.toLocaleString("en-US", { minimumFractionDigits: least, maximumFractionDigits: 6 });
}

/**
 * An amount as a person writes it: `50`, `$1,200.50`. Commas separate thousands.
 * @returns nano-dollars, or undefined for other text
 */
export function readDollars(text: string): number | undefined {
  const match = /^\$?\s*(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (!match) return undefined;
  const whole = Number(match[1]!.replaceAll(",", ""));
  const nano = whole * 1e9 + Number((match[2] ?? "").padEnd(9, "0"));
  return Number.isSafeInteger(nano) ? nano : undefined;
}
