/** Codes in which characters are written by others: escapes of JSON, of URLs and of HTML. */
import { isLetter } from "./classes.ts";
import { Rewritten } from "./rewritten.ts";

export interface Code {
  /** Each escape begins with it. */
  readonly mark: string;
  /** @returns undefined: there is nothing to decode */
  decode(text: string): Rewritten | undefined;
}

/** @param read writes what an escape means, and returns its length; 0: it is none */
function code(mark: string, read: (text: string, at: number, into: Rewritten) => number): Code {
  return {
    mark,
    decode(text) {
      const written = new Rewritten(text);
      let hasAny = false;
      for (let at = text.indexOf(mark); at >= 0;) {
        written.begin(at);
        const length = read(text, at, written);
        if (length > 0) {
          hasAny = true;
          written.end(at + length);
        }
        at += Math.max(1, length);
        if (text[at] !== mark) at = text.indexOf(mark, at);
      }
      return hasAny ? written.finish() : undefined;
    },
  };
}

const SHORT = new Map(
  [...'nrtbf"\\/'].map((char, at) => [char.charCodeAt(0), '\n\r\t\b\f"\\/'.charCodeAt(at)]),
);

const json = code("\\", (text, at, into) => {
  const next = text.charCodeAt(at + 1);
  if (next === 0x75) {
    const value = hexAt(text, at + 2, 4);
    if (value >= 0) into.unit(value);
    return value >= 0 ? 6 : 0;
  }
  const short = SHORT.get(next);
  if (short !== undefined) into.unit(short);
  return short === undefined ? 0 : 2;
});

/** Bytes of UTF-8, each `%` and two digits. */
const percent = code("%", (text, at, into) => {
  const first = hexAt(text, at + 1, 2);
  if (first < 0 || (first >= 0x80 && first < 0xc2) || first > 0xf4) return 0;
  if (first < 0x80) {
    into.unit(first);
    return 3;
  }
  const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  let point = first & (0x3f >> more);
  for (let each = 1; each <= more; each++) {
    const byte = text[at + each * 3] === "%" ? hexAt(text, at + each * 3 + 1, 2) : -1;
    if (byte < 0x80 || byte > 0xbf) return 0;
    point = (point << 6) | (byte & 0x3f);
  }
  if (point > 0x10ffff) return 0;
  putPoint(point, into);
  return (more + 1) * 3;
});

const NAMES = new Map([
  ["amp", 0x26],
  ["lt", 0x3c],
  ["gt", 0x3e],
  ["quot", 0x22],
  ["apos", 0x27],
  ["nbsp", 0x20],
  ["commat", 0x40],
  ["period", 0x2e],
  ["colon", 0x3a],
  ["plus", 0x2b],
]);
/** `&commat` */
const LONGEST_NAME = 8;
/** `1114111` */
const MOST_DIGITS = 7;

const html = code("&", (text, at, into) => {
  if (text[at + 1] === "#") return numbered(text, at, into);
  let end = at + 1;
  while (end - at < LONGEST_NAME && isLetter(text.charCodeAt(end))) end++;
  if (text[end] !== ";") return 0;
  const named = NAMES.get(text.slice(at + 1, end));
  if (named === undefined) return 0;
  into.unit(named);
  return end + 1 - at;
});

/** `&#64;`, `&#x40;` */
function numbered(text: string, at: number, into: Rewritten): number {
  const isHex = (text.charCodeAt(at + 2) | 0x20) === 0x78;
  const first = at + (isHex ? 3 : 2);
  let point = 0;
  let end = first;
  for (; end - first < MOST_DIGITS; end++) {
    const digit = hexAt(text, end, 1);
    if (digit < 0 || (digit > 9 && !isHex)) break;
    point = point * (isHex ? 16 : 10) + digit;
  }
  if (end === first || point > 0x10ffff || text[end] !== ";") return 0;
  putPoint(point, into);
  return end + 1 - at;
}

export const CODES: readonly Code[] = [json, percent, html];

function putPoint(point: number, into: Rewritten): void {
  if (point <= 0xffff) return into.unit(point);
  into.unit(0xd800 + ((point - 0x10000) >> 10));
  into.unit(0xdc00 + ((point - 0x10000) & 0x3ff));
}

/** @returns -1: other characters stand there */
function hexAt(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code < 58) value = value * 16 + code - 48;
    else if ((code | 0x20) >= 97 && (code | 0x20) < 103) value = value * 16 + (code | 0x20) - 87;
    else return -1;
  }
  return value;
}
