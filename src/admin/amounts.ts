/** Conditions on numbers as people type them: `>0.1`, `<=5s`, `>50k`, `5xx|429`. Schemas have checked their form. */
import type { Bound } from "../keeper/reports/shapes.ts";
import { DOLLAR } from "../ledger/money.ts";

const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
  ...{ k: 1_000, M: 1_000_000 },
};

/** @param usual what a number without a unit is multiplied by */
export function boundOf(text: string | undefined, usual: number): Bound | undefined {
  const [, sign = "", amount = "", unit = ""] = /^([<>]=?)\$?([\d.]+)([A-Za-z]*)$/.exec(text ?? "") ?? [];
  if (sign === "") return undefined;
  return { sign: sign as Bound["sign"], value: Math.round(Number(amount) * (UNITS[unit] ?? usual)) };
}

/** Without a unit they are dollars, seconds and tokens. */
export const dollarsBound = (text: string | undefined) => boundOf(text, DOLLAR);
export const timeBound = (text: string | undefined) => boundOf(text, 1_000);
export const tokensBound = (text: string | undefined) => boundOf(text, 1);

export function statusesOf(text: string): { low: number; high: number }[] {
  return text
    .split("|")
    .map((one) => ({ low: Number(one.replace("xx", "00")), high: Number(one.replace("xx", "99")) }));
}
