/** Reads the digits of a telephone number with what stands between them. */
import { isDigit } from "../classes.ts";

export interface Written {
  /** Without `+`, `00`, and a zero in brackets. */
  readonly digits: string;
  readonly isInternational: boolean;
  /** Groups of digits that a dot separates from the one before. */
  readonly dots: number;
  /** Where each group ends. */
  readonly ends: readonly { readonly at: number; readonly count: number; readonly groups: number }[];
}

const MOST_DIGITS = 17;
const MOST_GROUPS = 8;

const SPACE = 0x20;
const OPEN = 0x28;
const CLOSE = 0x29;
const isMark = (code: number) => code >= 0x2d && code <= 0x2f;

/** Behind one space or mark between groups, or a mark between spaces, and brackets around a group. */
function separatorEnd(text: string, from: number): number {
  let at = text.charCodeAt(from) === CLOSE ? from + 1 : from;
  if (isMark(text.charCodeAt(at))) at++;
  else if (text.charCodeAt(at) === SPACE)
    at += isMark(text.charCodeAt(at + 1)) && text.charCodeAt(at + 2) === SPACE ? 3 : 1;
  return text.charCodeAt(at) === OPEN ? at + 1 : at;
}

function hasSlash(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === 0x2f) return true;
  return false;
}

/** @param from its `+` or first digit @param isOpen a bracket stands in front of it */
export function readNumber(text: string, from: number, isOpen: boolean): Written | undefined {
  const hasPlus = text[from] === "+";
  let at = hasPlus ? from + 1 : from;
  if (hasPlus && text[at] === "(") at++;
  let brackets = isOpen ? 1 : 0;
  let digits = "";
  let dots = 0;
  const ends: Written["ends"][number][] = [];
  for (let groups = 1; groups <= MOST_GROUPS; groups++) {
    const start = at;
    while (isDigit(text.charCodeAt(at)) && at - start <= MOST_DIGITS) at++;
    if (at === start || digits.length + at - start > MOST_DIGITS) break;
    const isTrunk = hasPlus && groups > 1 && text.slice(start - 1, at + 1) === "(0)";
    if (!isTrunk) digits += text.slice(start, at);
    // Columns of small numbers.
    if (!hasPlus && groups === 3 && digits.length < 5) return undefined;
    if (brackets === 0 || text[at] !== ")") ends.push({ at, count: digits.length, groups });
    const next = separatorEnd(text, at);
    if (next === at || (hasSlash(text, at, next) && !isDigit(text.charCodeAt(next + 2)))) break;
    if (text[at] === ")") brackets--;
    if (text[next - 1] === "(") brackets++;
    if (brackets < 0 || brackets > 1) break;
    if (text[at] === ".") dots++;
    at = next;
  }
  if (ends.length === 0) return undefined;
  if (hasPlus) return { digits, ends, dots: 0, isInternational: true };
  if (!digits.startsWith("00")) return { digits, ends, dots, isInternational: false };
  const inner = ends.filter(({ count }) => count > 2).map((end) => ({ ...end, count: end.count - 2 }));
  return inner.length === 0
    ? undefined
    : { digits: digits.slice(2), ends: inner, dots: 0, isInternational: true };
}
