/** E-mail addresses: a dot-atom (RFC 5321) and a domain of at least two labels. */
import { byBlock, isDigit, runAtEnd } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

/** Letters beyond ASCII are those of alphabets that separate words by spaces: Chinese text touches an address without one. */
const LETTER = "A-Za-z0-9\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{M}";
/** What a character can be in an address: bits. */
const LOCAL = 1;
const DOMAIN = 2;
/** `mailto:` and `user=` end in characters that no address has here, though RFC 5321 allows some of them. */
const FIRST = 4;
const PART = LOCAL | DOMAIN | FIRST;
/** Within the name of a domain: a label begins with it, and the top domain has it. */
const LABEL = 8;
const TOP = 16;
const LABEL_CHAR = new RegExp(`[${LETTER}]`, "iu");
const roleOf = byBlock((char) => {
  const isLetter = new RegExp(`[${LETTER}]`, "u").test(char);
  const isLocal = isLetter || "!#$%'*+_^~.-".includes(char);
  const isFirst = isLetter || char === "_" || char === "+";
  return (
    (isLocal ? LOCAL : 0) |
    (isLetter || char === "." || char === "-" ? DOMAIN : 0) |
    (isFirst ? FIRST : 0) |
    (LABEL_CHAR.test(char) ? LABEL : 0) |
    (/\p{L}/iu.test(char) ? TOP : 0)
  );
});
/** A top domain in the letters of others. */
const ENCODED = /^xn--[a-z0-9-]{1,59}/iu;
const LONGEST_TOP = 24;
/** Names of images for dense screens: `icon@2x.png`. */
const SCALED = /^\dx\.(?:png|jpe?g|gif|webp|svg)$/i;
const LONGEST_LOCAL = 64;
const LONGEST = 254;
const AT = 0x40;
const DOT = 0x2e;
const DASH = 0x2d;

export const email: Detector = {
  name: "email",
  kind: "EMAIL",
  find(text, from = 0) {
    const found: Finding[] = [];
    let least = from;
    for (let at = text.indexOf("@", from); at >= 0; at = text.indexOf("@", at + 1)) {
      const start = localStart(text, at, least);
      if (start === at) continue;
      const end = domainEnd(text, at + 1);
      if (end === 0) continue;
      found.push({ start, end, kind: "EMAIL" });
      least = end;
    }
    return found;
  },
  reach: (text) => runAtEnd(text, LONGEST, (code) => code === AT || (roleOf(code) & PART) !== 0),
  /** Domains know no case (RFC 5321, 2.4). */
  normal(value) {
    const at = value.lastIndexOf("@");
    return value.slice(0, at) + value.slice(at).toLowerCase();
  },
};

/** @returns the position of the `@`: no local part ends there */
function localStart(text: string, at: number, least: number): number {
  let start = at;
  let first = at;
  while (start > least && at - start < LONGEST_LOCAL) {
    const code = text.charCodeAt(start - 1);
    const role = roleOf(code);
    const isDots = code === DOT && (start === at || text.charCodeAt(start) === DOT);
    if ((role & LOCAL) === 0 || isDots) break;
    start--;
    if (role & FIRST) first = start;
  }
  return first;
}

/** @returns 0: no domain begins here */
function domainEnd(text: string, from: number): number {
  let end = from;
  let hasDot = false;
  for (; end < text.length && end - from < LONGEST; end++) {
    const code = text.charCodeAt(end);
    if ((roleOf(code) & DOMAIN) === 0) break;
    hasDot ||= code === DOT;
  }
  const behind = hasDot ? nameEnd(text, from, end) : 0;
  const isScaled = behind > 0 && isDigit(text.charCodeAt(from)) && SCALED.test(text.slice(from, behind));
  return isScaled ? 0 : behind;
}

/**
 * The end of the name of a domain: labels, and behind the last dot that has one the top domain. Behind its last letter something else
 * may follow without a space.
 * @param end of what names of domains consist of @returns 0: there is none
 */
function nameEnd(text: string, from: number, end: number): number {
  let found = 0;
  let isFirst = true;
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code !== DOT) {
      if (isFirst && (roleOf(code) & LABEL) === 0) return found;
      isFirst = false;
    } else if (isFirst) return found;
    else {
      isFirst = true;
      found = topEnd(text, at + 1, end) || found;
    }
  }
  return found;
}

/** @returns 0: no top domain begins here */
function topEnd(text: string, from: number, end: number): number {
  if (from + 4 < end && text.charCodeAt(from + 2) === DASH && text.charCodeAt(from + 3) === DASH) {
    const encoded = ENCODED.exec(text.slice(from, end));
    if (encoded) return from + encoded[0].length;
  }
  let at = from;
  while (at < end && at - from < LONGEST_TOP && (roleOf(text.charCodeAt(at)) & TOP) !== 0) at++;
  return at - from > 1 ? at : 0;
}
