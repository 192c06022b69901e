/** What tests found, as clauses for people. */
import { GROUPS } from "../questions.ts";
import { SHARES, type Shift } from "../stats/series.ts";

export function answerWords(group: string, shift: Shift): string {
  const { what, isMore, found, drawn, foundBefore, drawnBefore } = shift;
  const { label } = GROUPS.find(({ name }) => name === group)!;
  return `${label(what)} is the answer ${isMore ? "more" : "less"} often: ${found} of ${drawn}, ${foundBefore} of ${drawnBefore} before`;
}

export function speedWords(kind: "latency" | "rate", { what, isMore }: Shift): string {
  // The upper shares have the greater values.
  const isGreater = SHARES[what]! > 0 === isMore;
  const isSlower = kind === "latency" ? isGreater : !isGreater;
  const thing = kind === "latency" ? "the first byte comes" : "tokens come";
  return `${thing} ${isSlower ? "more slowly" : "faster"} than before, beside the other providers`;
}

/** How rare it is by chance. */
export function evidenceOf({ logP, found, drawn }: Shift): string {
  const tens = Math.floor(-logP / Math.LN10);
  return `in ${found} of the last ${drawn}; by chance less than once in 10^${tens} such comparisons`;
}
