/** Counts and shares as text. */
import { MISSING } from "./money.ts";

/** Whole to 9,999; above that three digits with `k`, `M` or `B`. */
export function count(number: number | null | undefined): string {
  if (number === null || number === undefined) return MISSING;
  if (number < 10_000) return whole(number);
  if (number < 999_500) return `${short(number / 1e3)} k`;
  if (number < 999_500_000) return `${short(number / 1e6)} M`;
  return `${short(number / 1e9)} B`;
}

/** Three significant digits, none of them lost: 27.9, 1.34, 184. */
function short(number: number): string {
  return number < 9.995 ? number.toFixed(2) : number < 99.95 ? number.toFixed(1) : number.toFixed(0);
}

/** With commas: for sums and ledgers. */
export function whole(number: number | null | undefined): string {
  return number === null || number === undefined ? MISSING : Math.round(number).toLocaleString("en-US");
}

/** A share of 0 to 1: one decimal below 10 %, `<0.1 %` for what is not 0, `>99.9 %` for what is not all. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || Number.isNaN(share)) return MISSING;
  if (share === 0) return "0 %";
  if (share < 0.001) return "<0.1 %";
  if (share < 0.0995) return `${(share * 100).toFixed(1)} %`;
  if (share > 0.995 && share < 1) return share >= 0.9995 ? ">99.9 %" : `${(share * 100).toFixed(1)} %`;
  return `${(share * 100).toFixed(0)} %`;
}

/** `1 call`, `2 calls`. @param many the plural where it is not the word with an `s` */
export function counted(number: number, word: string, many = `${word}s`): string {
  return `${whole(number)} ${number === 1 ? word : many}`;
}
