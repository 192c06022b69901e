/** IP addresses, version 4 and 6 (RFC 4291, RFC 5952). Loopback and unspecified addresses belong to no one. */
import { isIPv6 } from "node:net";
import { codeAt, isDigit, isHex, isWord, runAtEnd } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

const OWN = /^(?:127\.|0\.0\.0\.0$|::1?$)/;
/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const LONGEST = 45;
const COLON = 0x3a;
const DOT = 0x2e;
const DASH = 0x2d;

export const ip: Detector = {
  name: "ip",
  kind: "IP",
  find(text, from = 0) {
    const found: Finding[] = [];
    addVersion4(text, from, found);
    addVersion6(text, from, found);
    return found;
  },
  reach: (text) => runAtEnd(text, LONGEST + 1, isPart),
  normal: (value) => value.toLowerCase(),
};

/** RFC 1918, RFC 3927, RFC 6598, RFC 4193 and RFC 4291. */
const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/i;

/** Without those of private networks. */
export const publicIp: Detector = {
  ...ip,
  find: (text, from) => ip.find(text, from).filter(({ start, end }) => !PRIVATE.test(text.slice(start, end))),
};

const isPart = (code: number) => isHex(code) || code === COLON || code === DOT;

function add(text: string, start: number, end: number, found: Finding[]): void {
  const first = text.charCodeAt(start);
  const mayBeOwn = first === 0x30 || first === 0x31 || first === COLON;
  if (!mayBeOwn || !OWN.test(text.slice(start, end))) found.push({ start, end, kind: "IP" });
}

function addVersion4(text: string, from: number, found: Finding[]): void {
  let at = text.indexOf(".", from + 1);
  for (let least = from; at >= 0;) {
    const end =
      isDigit(codeAt(text, at - 1)) && isDigit(codeAt(text, at + 1)) ? addFour(text, at, least, found) : 0;
    if (end > 0) least = end;
    at = text.indexOf(".", Math.max(at + 1, end));
  }
}

/** @param dot the first one @returns the end of the run of digits and dots that it is in, or 0 */
function addFour(text: string, dot: number, least: number, found: Finding[]): number {
  let start = dot;
  while (start > least && dot - start < 4 && isDigit(codeAt(text, start - 1))) start--;
  let end = dot + 1;
  while (isDigit(codeAt(text, end)) || (codeAt(text, end) === DOT && isDigit(codeAt(text, end + 1)))) end++;
  // What stands around an address is no part of a longer word, number or version.
  const before = codeAt(text, start - 1);
  const behind = codeAt(text, end);
  const isApart = !isWord(before) && before !== DOT && before !== DASH && !isWord(behind) && behind !== DASH;
  if (isApart && end - start <= 15 && isFour(text, start, end)) add(text, start, end, found);
  return end;
}

/** Four numbers up to 255, without zeros in front. */
function isFour(text: string, start: number, end: number): boolean {
  let count = 1;
  let number = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      count++;
      number = 0;
    } else {
      if (number === 0 && at > start && text.charCodeAt(at - 1) === 48) return false;
      number = number * 10 + code - 48;
      if (number > 255) return false;
    }
  }
  return count === 4;
}

function addVersion6(text: string, from: number, found: Finding[]): void {
  for (let at = text.indexOf(":", from); at >= 0;) {
    let start = at;
    while (start > from && at - start < 5 && isHex(codeAt(text, start - 1))) start--;
    let end = at + 1;
    let colons = 1;
    let isNumber = false;
    for (; isPart(codeAt(text, end)); end++) if (codeAt(text, end) === COLON) colons++;
    const next = end;
    // The point of a sentence, and a colon behind the address.
    while (end > at && (codeAt(text, end - 1) === DOT || isLoneColon(text, end - 1))) end--;
    for (let each = start; each < end && !isNumber; each++) isNumber = isDigit(codeAt(text, each));
    if (
      colons > 1 &&
      end - start <= LONGEST &&
      isNumber &&
      isApart6(text, start, end) &&
      isVersion6(text, start, end)
    )
      add(text, start, end, found);
    at = text.indexOf(":", next);
  }
}

/** @param text hexadecimal digits, colons and dots between the positions */
function isVersion6(text: string, start: number, end: number): boolean {
  let groups = 0;
  let digits = 0;
  let isShort = false;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    // The last groups can be an address of version 4.
    if (code === DOT) return isIPv6(text.slice(start, end));
    if (code !== COLON) {
      if (++digits > 4) return false;
      if (digits === 1) groups++;
      continue;
    }
    const isDouble = at + 1 < end && text.charCodeAt(at + 1) === COLON;
    if (digits === 0 && !isDouble) return false;
    digits = 0;
    if (!isDouble) continue;
    if (isShort) return false;
    isShort = true;
    at++;
  }
  const endsInColon = digits === 0 && !(isShort && text.charCodeAt(end - 2) === COLON);
  return !endsInColon && (isShort ? groups < 8 : groups === 8);
}

function isLoneColon(text: string, at: number): boolean {
  return codeAt(text, at) === COLON && codeAt(text, at - 1) !== COLON;
}

function isApart6(text: string, start: number, end: number): boolean {
  const before = codeAt(text, start - 1);
  return !isWord(before) && before !== COLON && before !== DOT && !isWord(codeAt(text, end));
}
