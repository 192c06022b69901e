/** Telephone numbers: with `+` and a calling code (ITU-T, E-164), and as they are written within some regions. */
import { isAlnum, isDigit, isWord, runAtEnd } from "../classes.ts";
import type { Detector, Finding } from "../detector.ts";
import { readNumber, type Written } from "./number.ts";
import { planOf, regionOf, regionsOfCode, type Region } from "./regions.ts";

/** `+49 (0)30 1234 5678 ext. 12345`, with separators between all digits. */
const LONGEST = 48;
const LEAST = 7;
const PLUS = 0x2b;
const OPEN = 0x28;

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
    if (end > at + 1) at = end - 1;
    if (end === 0) while (at + 1 < text.length && isDigit(text.charCodeAt(at + 1))) at++;
  }
}

/** Digit by digit: no form of numbers, but one of tables. */
function isSpelled(text: string, at: number): boolean {
  return isSpaceBehind(text, at) && isSpaceBehind(text, at + 2);
}

const isSpaceBehind = (text: string, at: number) =>
  at + 1 < text.length && text.charCodeAt(at + 1) === 0x20 && isDigit(text.charCodeAt(at));

/** @returns where the number ends; 0: none begins here */
function add(text: string, at: number, regions: readonly Region[], least: number, found: Finding[]): number {
  // A bracket before `least` has gone to the client, and still says how the number is read.
  const hasBracket = at > 0 && text.charCodeAt(at - 1) === OPEN;
  const first = hasBracket ? at - 1 : at;
  if (first > 0 && isPartBefore(text.charCodeAt(first - 1))) return 0;
  const written = readNumber(text, at, hasBracket);
  const end = written ? endOf(text, written, regions) : 0;
  if (end === 0) return 0;
  found.push({ start: Math.max(first, least), end, kind: "PHONE" });
  return end;
}

/** What goes on to the left of a number: a word, a longer number, a date, a version. */
const isPartBefore = (code: number) =>
  isWord(code) || code === PLUS || (code >= 0x2d && code <= 0x2f) || code === 0x23 || code === 0x24;

/** The end of the longest beginning of what is written that is a number; 0: there is none. */
function endOf(text: string, written: Written, regions: readonly Region[]): number {
  const { at, count, groups, dots, size, isInternational } = written;
  if (count[size - 1]! < LEAST) return 0;
  if (isInternational) counts.setInternational(written, planOf(written.digits, count[size - 1]!));
  else counts.setNational(written, regions);
  if (counts.areNone) return 0;
  for (let each = size - 1; each >= 0 && count[each]! >= LEAST; each--) {
    if (!counts.has(count[each]!, groups[each]!)) continue;
    // `0.12345678` and `3.0.2 / 2018` are other numbers.
    if (dots > 0 && (groups[each]! < 3 || dots < groups[each]! - 1)) continue;
    if (!isApart(text, at[each]!)) continue;
    if (!isInternational && looksLikeDate(text.slice(at[0]! - count[0]!, at[each]))) continue;
    return withExtension(text, at[each]!);
  }
  return 0;
}

/** Whether a number can end here: no word and no longer number goes on. */
function isApart(text: string, at: number): boolean {
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  if (isWord(code)) return isLetterX(code) || /^ext/i.test(text.slice(at, at + 3));
  const isJoint = (code >= 0x2d && code <= 0x2f) || code === 0x3a;
  return !isJoint || at + 1 >= text.length || !isAlnum(text.charCodeAt(at + 1));
}

const isLetterX = (code: number) => (code | 0x20) === 0x78;

/** `2026-11-28`, `28.11.2026`, four numbers of an address. */
const DATE =
  /^(?:(?:19|20)\d\d[-./ ]?\d\d[-./ ]?\d\d|(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d|\d{1,3}(?:\.\d{1,3}){3})$/;
const looksLikeDate = (written: string) => DATE.test(written);

/** How many of the digits that are written can be a number, a bit for each count. */
class Counts {
  /** Whatever the groups. */
  #always = 0;
  /** If groups have more than two digits on average, or there are many digits. */
  #dense = 0;
  /** If there are groups, or many digits. */
  #grouped = 0;

  setInternational(written: Written, region: Region | undefined): void {
    this.#always = region ? internationalCounts(written, region) : 0;
    this.#dense = 0;
    this.#grouped = 0;
  }

  setNational(written: Written, regions: readonly Region[]): void {
    this.#always = 0;
    this.#dense = 0;
    this.#grouped = 0;
    const { digits } = written;
    for (const region of regions) {
      const { trunk, whole } = region;
      if (trunk === undefined) this.#grouped |= countsFrom(written, 0, region, whole);
      else if (beginsWith(digits, 0, trunk))
        this.#dense |= countsFrom(written, trunk.length, region, region.possible);
      else this.#always |= countsFrom(written, 0, region, whole);
    }
  }

  get areNone(): boolean {
    return (this.#always | this.#dense | this.#grouped) === 0;
  }

  has(count: number, groups: number): boolean {
    const bit = 1 << count;
    return (
      (this.#always & bit) !== 0 ||
      ((this.#dense & bit) !== 0 && (count > groups * 2 || count > 8)) ||
      ((this.#grouped & bit) !== 0 && (count >= 8 || groups > 1))
    );
  }
}

const counts = new Counts();

/** With the calling code. The trunk prefix may stand behind it. */
function internationalCounts(written: Written, region: Region): number {
  const { code, trunk, possible } = region;
  const plain = countsFrom(written, code.length, region, possible);
  if (trunk === undefined || !beginsWith(written.digits, code.length, trunk)) return plain;
  return plain | countsFrom(written, code.length + trunk.length, region, possible);
}

/** @param from where national digits begin @param possible counts of them @returns counts of all digits, of those that a group ends */
function countsFrom(written: Written, from: number, region: Region, possible: number): number {
  const wanted = written.counts & (possible << from);
  if (wanted === 0) return 0;
  return (region.lengths(written.digits, from, 31 - Math.clz32(wanted)) << from) & wanted;
}

function beginsWith(digits: Uint8Array, from: number, text: string): boolean {
  for (let at = 0; at < text.length; at++) if (digits[from + at] !== text.charCodeAt(at) - 48) return false;
  return true;
}

const WITH_EXTENSION = /^ ?(?:x|ext\.?|#) ?\d{1,6}(?!\d)/i;

function withExtension(text: string, at: number): number {
  const first = at < text.length && text.charCodeAt(at) === 0x20 ? at + 1 : at;
  if (first >= text.length || !EXTENSION.has(text.charCodeAt(first))) return at;
  return at + (WITH_EXTENSION.exec(text.slice(at, at + 14))?.[0].length ?? 0);
}

/** @returns `+4930123456`, with `;ext=12` (RFC 3966) if it has an extension */
function e164(value: string, regions: readonly Region[]): string {
  const hasBracket = value.startsWith("(");
  const written = readNumber(value, hasBracket ? 1 : 0, hasBracket);
  if (!written) return value;
  const last = written.size - 1;
  const count = written.count[last]!;
  const extension = /\d+$/.exec(value.slice(written.at[last]))?.[0];
  const plans = written.isInternational ? regionsOfCode(written.digits, count) : regions;
  const number = nationalIn(written, plans) ?? value;
  return extension === undefined ? number : `${number};ext=${extension}`;
}

/** @returns `+` and all digits */
function nationalIn(written: Written, plans: readonly Region[]): string | undefined {
  const { digits, isInternational, size } = written;
  const count = written.count[size - 1]!;
  const textFrom = (from: number) => digits.subarray(from, count).join("");
  for (const region of plans) {
    const { code, trunk } = region;
    if (isInternational) {
      counts.setInternational(written, region);
      if ((countsFrom(written, code.length, region, region.possible) & (1 << count)) !== 0)
        return `+${textFrom(0)}`;
      if (counts.has(count, 0)) return `+${code}${textFrom(code.length + trunk!.length)}`;
    } else {
      counts.setNational(written, [region]);
      const from = trunk !== undefined && beginsWith(digits, 0, trunk) ? trunk.length : 0;
      if (counts.has(count, written.groups[size - 1]!)) return `+${code}${textFrom(from)}`;
    }
  }
  return undefined;
}
