/** Telephone numbers: with `+` and a calling code (ITU-T, E-164), and as they are written within some regions. */
import { isAlnum, isDigit, isWord, runAtEnd } from "../classes.ts";
import type { Detector, Finding } from "../detector.ts";
import { readNumber, type Written } from "./number.ts";
import { regionOf, regionsOfCode, type Region } from "./regions.ts";

/** `+49 (0)30 1234 5678 ext. 12345`, with separators between all digits. */
const LONGEST = 48;
const LEAST = 7;
const PLUS = 0x2b;

/** @param names of regions whose own forms are found; none: the form with `+` alone */
export function phoneDetector(names: readonly string[] = []): Detector {
  const regions = names.map(regionOf);
  return {
    name: "phone",
    kind: "PHONE",
    find(text, from = 0) {
      const found: Finding[] = [];
      if (regions.length > 0) addAll(text, from, regions, found);
      else addInternational(text, from, found);
      return found;
    },
    reach(text) {
      const at = runAtEnd(text, LONGEST, (code) => isDigit(code) || isSeparator(code) || EXTENSION.has(code));
      const first = runAtEnd(text.slice(0, at), 1, (code) => code === PLUS || code === 0x28);
      return regions.length > 0 || text.indexOf("+", first) >= 0 ? first : text.length;
    },
    normal: (value) => e164(value, regions),
  };
}

/** ` .-()/` and what stands in `ext. 12`. */
const isSeparator = (code: number) =>
  code === 0x20 || (code >= 0x28 && code <= 0x29) || (code >= 0x2b && code <= 0x2f && code !== 0x2c);
const EXTENSION = new Set([..."extEXT#:"].map((char) => char.charCodeAt(0)));

function addInternational(text: string, from: number, found: Finding[]): void {
  for (let at = text.indexOf("+", from); at >= 0; at = text.indexOf("+", at + 1))
    add(text, at, [], from, found);
}

function addAll(text: string, from: number, regions: readonly Region[], found: Finding[]): void {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== PLUS && !isDigit(code)) continue;
    const end = isSpelled(text, at) ? 0 : add(text, at, regions, from, found);
    // Another number can begin behind a space, and behind nothing else.
    at = Math.max(at, end - 1);
    if (end === 0) while (isDigit(text.charCodeAt(at + 1))) at++;
  }
}

/** Digit by digit: no form of numbers, but one of tables. */
function isSpelled(text: string, at: number): boolean {
  return isSpaceBehind(text, at) && isSpaceBehind(text, at + 2);
}

const isSpaceBehind = (text: string, at: number) =>
  isDigit(text.charCodeAt(at)) && text.charCodeAt(at + 1) === 0x20;

/** @returns where the number ends; 0: none begins here */
function add(text: string, at: number, regions: readonly Region[], least: number, found: Finding[]): number {
  const hasBracket = text[at - 1] === "(" && at > least;
  const start = hasBracket ? at - 1 : at;
  if (start > 0 && isPartBefore(text.charCodeAt(start - 1))) return 0;
  const written = readNumber(text, at, hasBracket);
  const end = written && endOf(text, written, regions);
  if (end === undefined) return 0;
  found.push({ start, end, kind: "PHONE" });
  return end;
}

/** What goes on to the left of a number: a word, a longer number, a date, a version. */
const isPartBefore = (code: number) =>
  isWord(code) || code === PLUS || (code >= 0x2d && code <= 0x2f) || code === 0x23 || code === 0x24;

/** The longest beginning of what is written that is a number. */
function endOf(
  text: string,
  { digits, ends, isInternational, dots }: Written,
  regions: readonly Region[],
): number | undefined {
  const plans = isInternational ? regionsOfCode(digits) : regions;
  if (plans.length === 0) return undefined;
  for (let each = ends.length - 1; each >= 0; each--) {
    const { count, at, groups } = ends[each]!;
    if (count < LEAST) return undefined;
    // `0.12345678` and `3.0.2 / 2018` are other numbers.
    if (dots > 0 && (groups < 3 || dots < groups - 1)) continue;
    if (!isApart(text, at)) continue;
    const own = digits.slice(0, count);
    if (!isInternational && looksLikeDate(text.slice(ends[0]!.at - ends[0]!.count, at))) continue;
    if (nationalIn(own, plans, isInternational, groups) !== undefined) return withExtension(text, at);
  }
  return undefined;
}

/** Whether a number can end here: no word and no longer number goes on. */
function isApart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (isWord(code)) return /^(?:x|ext)/i.test(text.slice(at, at + 3));
  return !((code >= 0x2d && code <= 0x2f) || code === 0x3a) || !isAlnum(text.charCodeAt(at + 1));
}

/** `2026-11-28`, `28.11.2026`, four numbers of an address. */
const DATE =
  /^(?:(?:19|20)\d\d[-./ ]?\d\d[-./ ]?\d\d|(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d|\d{1,3}(?:\.\d{1,3}){3})$/;
const looksLikeDate = (written: string) => DATE.test(written);

/** @returns `+` and all digits */
function nationalIn(
  digits: string,
  plans: readonly Region[],
  isInternational: boolean,
  groups: number,
): string | undefined {
  for (const { code, trunk, has } of plans) {
    if (isInternational) {
      const national = digits.slice(code.length);
      if (has(national)) return `+${digits}`;
      if (trunk !== undefined && national.startsWith(trunk) && has(national.slice(trunk.length)))
        return `+${code}${national.slice(trunk.length)}`;
    } else if (trunk !== undefined && digits.startsWith(trunk)) {
      const isDense = digits.length > groups * 2 || digits.length > 8;
      if (isDense && has(digits.slice(trunk.length))) return `+${code}${digits.slice(trunk.length)}`;
    } else if (isWhole(digits, code, trunk, groups) && has(digits)) return `+${code}${digits}`;
  }
  return undefined;
}

/** Calling codes of large countries whose numbers are written without the zero in front: Brazil, China, India, Turkey. */
const WITHOUT_ZERO = new Set(["55", "86", "91", "90"]);

/** Whether digits can be a number without what stands in front of numbers within its country. */
function isWhole(digits: string, code: string, trunk: string | undefined, groups: number): boolean {
  if (trunk === undefined) return digits.length >= 8 || groups > 1;
  return digits.length >= 9 && (trunk !== "0" || (digits.length >= 10 && WITHOUT_ZERO.has(code)));
}

const WITH_EXTENSION = /^ ?(?:x|ext\.?|#) ?\d{1,6}(?!\d)/i;

function withExtension(text: string, at: number): number {
  return at + (WITH_EXTENSION.exec(text.slice(at, at + 14))?.[0].length ?? 0);
}

/** @returns `+4930123456`, with `;ext=12` (RFC 3966) if it has an extension */
function e164(value: string, regions: readonly Region[]): string {
  const hasBracket = value.startsWith("(");
  const written = readNumber(value, hasBracket ? 1 : 0, hasBracket);
  if (!written) return value;
  const { digits, ends, isInternational } = written;
  const { count, groups, at } = ends.at(-1)!;
  const own = digits.slice(0, count);
  const plans = isInternational ? regionsOfCode(own) : regions;
  const extension = /\d+$/.exec(value.slice(at))?.[0];
  const number = nationalIn(own, plans, isInternational, groups) ?? value;
  return extension === undefined ? number : `${number};ext=${extension}`;
}
