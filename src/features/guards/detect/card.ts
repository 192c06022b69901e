/** Numbers of payment cards: prefix and length of an issuer, and the check digit of ISO/IEC 7812-1 (Luhn). */
import { type Detector, digitsOf, type Finding, matchesFrom, reachOf } from "./detector.ts";

/** Digits in groups, separated by a space or a dash. A longer run of digits is no card. */
const RUN = /(?<![\d.])\d+(?:[ -]\d+)*(?!\d)/g;
const LONGEST_RUN = 200;

/** Prefix of the issuer, and the lengths of its numbers. */
const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 17, 18, 19]],
  [/^(?:352[89]|35[3-8])/, [16, 17, 18, 19]],
  [/^(?:36|38|39|30[0-5])/, [14, 15, 16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:50|5[6-8]|60|63|67|6[89])/, [12, 13, 14, 15, 16, 17, 18, 19]],
  [/^220[0-4]/, [16, 17, 18, 19]],
];

export const card: Detector = {
  name: "card",
  kind: "CARD",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (const { 0: run, index } of matchesFrom(RUN, text, from))
      if (run.length >= 12) addCards(run, index, found);
    return found;
  },
  reach: reachOf(/(?<!\d[ -]?)\d[\d -]*$/, LONGEST_RUN),
  normal: digitsOf,
};

/** Cards begin and end at the groups of a run, so that two beside each other are two. */
function addCards(run: string, at: number, found: Finding[]): void {
  const groups = [...run.matchAll(/\d+/g)].map(({ 0: { length }, index }) => ({ start: index, length }));
  for (let first = 0; first < groups.length; first++) {
    let digits = 0;
    let end = -1;
    let last = first;
    for (let next = first; next < groups.length && digits <= 19; next++) {
      digits += groups[next]!.length;
      const until = groups[next]!.start + groups[next]!.length;
      if (digits >= 12 && digits <= 19 && isCard(digitsOf(run.slice(groups[first]!.start, until)))) {
        end = until;
        last = next;
      }
    }
    if (end < 0) continue;
    found.push({ start: at + groups[first]!.start, end: at + end, kind: "CARD" });
    first = last;
  }
}

function isCard(digits: string): boolean {
  return (
    ISSUERS.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits)) &&
    passesLuhn(digits)
  );
}

/** ISO/IEC 7812-1, annex B. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 48;
    const value = isDoubled ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
