/** The flags of rate limits: one for each unit. */
import { RATE_UNITS, type RateLimit, type RateUnit } from "../../ledger/policy.ts";
import type { Context, Flag } from "../command.ts";
import { countOf } from "./values.ts";

const MEANINGS: Readonly<Record<RateUnit, string>> = {
  rpm: "requests a minute",
  tpm: "tokens a minute, input and output",
  itpm: "input tokens a minute",
  otpm: "output tokens a minute",
  rpd: "requests a day",
  tpd: "tokens a day",
  concurrency: "calls in flight",
};

export const RATE_FLAGS: readonly Flag[] = RATE_UNITS.map((unit) => ({
  name: `--${unit}`,
  value: "N",
  help: `most ${MEANINGS[unit]}`,
}));

/** @returns undefined without any of the flags @throws UsageError */
export function ratesOf(flags: Context["flags"]): RateLimit["limits"] | undefined {
  const given = RATE_UNITS.flatMap((unit) => {
    const count = countOf(flags, `--${unit}`);
    return count === undefined ? [] : [[unit, count] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** `60 rpm, 5 concurrency`. */
export function showRates(limits: RateLimit["limits"]): string {
  return RATE_UNITS.filter((unit) => limits[unit] !== undefined)
    .map((unit) => `${limits[unit]} ${unit}`)
    .join(", ");
}
