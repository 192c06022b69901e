/** Numbers of payment cards: prefix and length of an issuer, and the check digit of ISO/IEC 7812-1 (Luhn). */
import { type Detector, digitsOf, type Finding, matchesFrom, reachOf } from "./detector.ts";

/** Digits in groups, separated by a space or a dash. A longer run of digits is no card. */
const RUN = /(?<![\d.])\d+(?:[ -]\d+)*(?!\d)/g;
const LONGEST_RUN = 200;
/** Digits of a card, and those that one begins with. */
const LEAST = 12;
const MOST = 19;
const BEGINS = new Set("23456");

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
      if (run.length >= LEAST) addCards(run, index, found);
    return found;
  },
  reach: reachOf(/(?<!\d[ -]?)\d[\d -]*$/, LONGEST_RUN),
  normal: digitsOf,
};

interface Group {
  /** In the run, exclusive end. */
  readonly start: number;
  readonly end: number;
  /** Number of digits in front of it. */
  readonly digits: number;
}

/** Cards begin and end at the groups of a run, so that two beside each other are two. */
function addCards(run: string, at: number, found: Finding[]): void {
  const digits = digitsOf(run);
  const groups = groupsOf(run);
  for (let first = 0; first < groups.length; first++) {
    const { start, digits: from } = groups[first]!;
    if (!BEGINS.has(digits[from]!)) continue;
    const last = lastGroup(digits, groups, first);
    if (last < 0) continue;
    found.push({ start: at + start, end: at + groups[last]!.end, kind: "CARD" });
    first = last;
  }
}

function groupsOf(run: string): Group[] {
  const groups: Group[] = [];
  let digits = 0;
  for (const {
    0: { length },
    index,
  } of run.matchAll(/\d+/g)) {
    groups.push({ start: index, end: index + length, digits });
    digits += length;
  }
  return groups;
}

/** @returns the group with which the longest card ends that begins with the first one; -1: none does */
function lastGroup(digits: string, groups: readonly Group[], first: number): number {
  const from = groups[first]!.digits;
  let last = -1;
  for (let next = first; next < groups.length; next++) {
    const to = groups[next + 1]?.digits ?? digits.length;
    if (to - from > MOST) break;
    if (to - from >= LEAST && isCard(digits.slice(from, to))) last = next;
  }
  return last;
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
