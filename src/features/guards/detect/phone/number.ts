/** Reads the digits of a telephone number with what stands between them. */
import { codeAt, isDigit } from "../classes.ts";

const MOST_DIGITS = 17;
const MOST_GROUPS = 8;

/** What was read last: one object is filled anew by each reading, because hostile texts have many beginnings of numbers. */
export class Written {
  /** Values of the digits, without `+`, `00`, and a zero in brackets. */
  readonly digits = new Uint8Array(MOST_DIGITS + 1);
  isInternational = false;
  /** Groups of digits that a dot separates from the one before. */
  dots = 0;
  /** How many ends there are. */
  size = 0;
  /** Their counts of digits: a bit for each. */
  counts = 0;
  /** Where each group ends: the position, the digits up to there, and its number from 1 on. */
  readonly at = new Int32Array(MOST_GROUPS);
  readonly count = new Uint8Array(MOST_GROUPS);
  readonly groups = new Uint8Array(MOST_GROUPS);

  begin(isInternational: boolean): void {
    this.isInternational = isInternational;
    this.dots = 0;
    this.size = 0;
    this.counts = 0;
  }

  /** A group ends. */
  end(at: number, count: number, groups: number): void {
    this.at[this.size] = at;
    this.count[this.size] = count;
    this.groups[this.size] = groups;
    this.counts |= 1 << count;
    this.size++;
  }

  /** The number begins with `00`, which is no part of it. */
  withoutZeros(): void {
    this.digits.copyWithin(0, 2);
    this.isInternational = true;
    this.dots = 0;
    let size = 0;
    for (let each = 0; each < this.size; each++) {
      if (this.count[each]! <= 2) continue;
      this.at[size] = this.at[each]!;
      this.count[size] = this.count[each]! - 2;
      this.groups[size] = this.groups[each]!;
      size++;
    }
    this.size = size;
    this.counts = (this.counts & ~7) >> 2;
  }
}

const SPACE = 0x20;
const OPEN = 0x28;
const CLOSE = 0x29;
const PLUS = 0x2b;
const DOT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const isMark = (code: number) => code >= 0x2d && code <= 0x2f;

/** Behind one space or mark between groups, or a mark between spaces, and brackets around a group. */
function separatorEnd(text: string, from: number): number {
  let at = from;
  let code = codeAt(text, at);
  if (code === CLOSE) code = codeAt(text, ++at);
  if (isMark(code)) code = codeAt(text, ++at);
  else if (code === SPACE) {
    at += isMark(codeAt(text, at + 1)) && codeAt(text, at + 2) === SPACE ? 3 : 1;
    code = codeAt(text, at);
  }
  return code === OPEN ? at + 1 : at;
}

function hasSlash(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === SLASH) return true;
  return false;
}

/** Three digits at least: fewer behind a slash are another number, as in `12/3`. */
function isGroupOfThree(text: string, from: number): boolean {
  return isDigit(codeAt(text, from)) && isDigit(codeAt(text, from + 1)) && isDigit(codeAt(text, from + 2));
}

const written = new Written();

/**
 * @param from its `+` or first digit @param isOpen a bracket stands in front of it
 * @returns the same object each time; undefined: no number
 */
export function readNumber(text: string, from: number, isOpen: boolean): Written | undefined {
  const hasPlus = text.charCodeAt(from) === PLUS;
  let at = hasPlus ? from + 1 : from;
  if (hasPlus && codeAt(text, at) === OPEN) at++;
  let brackets = isOpen ? 1 : 0;
  let count = 0;
  const { digits } = written;
  written.begin(hasPlus);
  for (let groups = 1; groups <= MOST_GROUPS; groups++) {
    const start = at;
    const before = count;
    let code = codeAt(text, at);
    for (; isDigit(code) && count <= MOST_DIGITS; code = codeAt(text, ++at)) digits[count++] = code - ZERO;
    if (at === start || count > MOST_DIGITS) {
      count = before;
      break;
    }
    // A zero in brackets is dialled within the country.
    if (hasPlus && groups > 1 && isZeroInBrackets(text, start, at)) count = before;
    // Columns of small numbers.
    if (!hasPlus && groups === 3 && count < 5) return undefined;
    if (brackets === 0 || code !== CLOSE) written.end(at, count, groups);
    if (code === SPACE && isDigit(codeAt(text, at + 1))) {
      at++;
      continue;
    }
    const next = separatorEnd(text, at);
    if (next === at || (hasSlash(text, at, next) && !isGroupOfThree(text, next))) break;
    if (code === CLOSE) brackets--;
    if (text.charCodeAt(next - 1) === OPEN) brackets++;
    if (brackets < 0 || brackets > 1) break;
    if (code === DOT) written.dots++;
    at = next;
  }
  if (hasPlus) written.dots = 0;
  else if (count >= 2 && digits[0] === 0 && digits[1] === 0) written.withoutZeros();
  return written.size > 0 ? written : undefined;
}

function isZeroInBrackets(text: string, start: number, end: number): boolean {
  return (
    end - start === 1 &&
    text.charCodeAt(start) === ZERO &&
    text.charCodeAt(start - 1) === OPEN &&
    codeAt(text, end) === CLOSE
  );
}
