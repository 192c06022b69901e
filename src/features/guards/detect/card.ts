/** Numbers of payment cards: prefix and length of an issuer, and the check digit of ISO/IEC 7812-1 (Luhn). */
import { codeAt, isDigit, isWord, runAtEnd } from "./classes.ts";
import { type Detector, digitsOf, type Finding } from "./detector.ts";

const LONGEST_RUN = 200;
const LEAST = 12;
const MOST = 19;
const DOT = 0x2e;
/** Of two characters side by side in a card one is a digit: two in every eight are in each run that is long enough. */
const STRIDE = 8;

/** First and last prefix of an issuer, and the lengths of its numbers. */
const ISSUERS: readonly (readonly [first: string, last: string, lengths: readonly number[]])[] = [
  ["4", "4", [13, 16, 19]],
  ["51", "55", [16]],
  ["2221", "2720", [16]],
  ["34", "34", [15]],
  ["37", "37", [15]],
  ["6011", "6011", [16, 17, 18, 19]],
  ["644", "65", [16, 17, 18, 19]],
  ["35", "35", [16, 17, 18, 19]],
  ["2131", "2131", [15]],
  ["1800", "1800", [15]],
  ["36", "36", [14, 15, 16, 17, 18, 19]],
  ["38", "39", [14, 15, 16, 17, 18, 19]],
  ["300", "305", [14, 15, 16, 17, 18, 19]],
  ["62", "62", [16, 17, 18, 19]],
  ["81", "81", [16, 17, 18, 19]],
  ["0604", "0604", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["50", "50", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["56", "58", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["60", "60", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["63", "63", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["67", "69", [12, 13, 14, 15, 16, 17, 18, 19]],
  ["2200", "2204", [16, 17, 18, 19]],
];

/** The lengths of numbers by their first four digits: a bit for each. */
const lengthsOf = new Uint32Array(10_000);
for (const [first, last, lengths] of ISSUERS)
  for (let prefix = Number(first.padEnd(4, "0")); prefix <= Number(last.padEnd(4, "9")); prefix++)
    for (const length of lengths) lengthsOf[prefix]! |= 1 << length;

export const card: Detector = {
  name: "card",
  kind: "CARD",
  find(text, from = 0) {
    const found: Finding[] = [];
    let least = from;
    for (let at = from; at < text.length; at += STRIDE) {
      const digit = isDigit(text.charCodeAt(at)) ? at : at + 1;
      if (digit === text.length || !isDigit(text.charCodeAt(digit))) continue;
      const start = runStart(text, digit, least);
      least = isPart(text, start) ? digitsEnd(text, start) : addCards(text, start, found);
      at = least - STRIDE;
    }
    return found;
  },
  reach(text) {
    let at = runAtEnd(text, LONGEST_RUN, (code) => isDigit(code) || isSeparator(code));
    while (at < text.length && !isDigit(text.charCodeAt(at))) at++;
    return at;
  },
  normal: digitsOf,
};

/** The beginning of the run of digits in which one of them is. @param least the run begins there or later */
function runStart(text: string, digit: number, least: number): number {
  let start = digit;
  while (start > least) {
    const before = text.charCodeAt(start - 1);
    if (isDigit(before)) start--;
    else if (start - 1 > least && isSeparator(before) && isDigit(text.charCodeAt(start - 2))) start -= 2;
    else break;
  }
  return start;
}

/** A space or a dash between groups of digits. */
const isSeparator = (code: number) => code === 0x20 || code === 0x2d;

/** Whether digits go on from a number, or stand within a word: a hash, an id. */
function isPart(text: string, at: number): boolean {
  const before = codeAt(text, at - 1);
  if (isDigit(before) || before === DOT) return true;
  return isWord(before) && isWord(codeAt(text, digitsEnd(text, at)));
}

function digitsEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

/**
 * Cards begin and end at the groups of a run of digits, so that two beside each other are two.
 * @returns the end of the run
 */
function addCards(text: string, from: number, found: Finding[]): number {
  let isFirst = true;
  for (let at = from; ; isFirst = false) {
    const end = cardEnd(text, at, isFirst);
    if (end > 0) found.push({ start: at, end, kind: "CARD" });
    const next = end > 0 ? end : digitsEnd(text, at);
    if (!goesOn(text, next)) return next;
    at = next + 1;
  }
}

/** Whether another group of the run follows. */
function goesOn(text: string, end: number): boolean {
  return end + 1 < text.length && isSeparator(text.charCodeAt(end)) && isDigit(text.charCodeAt(end + 1));
}

/**
 * The end of the longest card that begins with a group. Groups have the same size, but for a shorter last one, or are those of
 * 4-6-5. Of groups of one or two digits the card is the whole run: else columns of small numbers have cards by chance.
 * @param isFirst it is the first group of its run @returns 0: there is none
 */
function cardEnd(text: string, from: number, isFirst: boolean): number {
  let count = 0;
  let prefix = 0;
  /** Of the number with each second digit doubled: those with an even place from its beginning, and the others. */
  let even = 0;
  let odd = 0;
  let size = 0;
  /** The groups are 4-6 so far. */
  let isSplit = false;
  let found = 0;
  for (let at = from; ; at++) {
    const start = at;
    for (; at < text.length && isDigit(text.charCodeAt(at)); at++) {
      if (count === MOST) return found;
      const digit = text.charCodeAt(at) - 48;
      if (count < 4) prefix = prefix * 10 + digit;
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
      even += count % 2 === 0 ? doubled : digit;
      odd += count % 2 === 0 ? digit : doubled;
      count++;
    }
    if (size === 0) size = at - start;
    const group = at - start;
    if (size < 3 && !isFirst) return 0;
    if (isSplit ? group > 5 : group > size && !(size === 4 && group === 6 && count === 10)) return found;
    const isLast = !goesOn(text, at);
    const isCard =
      count >= LEAST &&
      (lengthsOf[prefix]! & (1 << count)) !== 0 &&
      (count % 2 === 0 ? even : odd) % 10 === 0;
    if (isCard && (isLast || size >= 3)) found = at;
    if (isLast || isSplit || group < size) return found;
    isSplit = group > size;
  }
}
