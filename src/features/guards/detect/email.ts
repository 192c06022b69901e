/** E-mail addresses: a dot-atom (RFC 5321) and a domain of at least two labels. */
import { byBlock, runAtEnd } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

/** Letters beyond ASCII are those of alphabets that separate words by spaces: Chinese text touches an address without one. */
const LETTER = "A-Za-z0-9\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{M}";
/** What a character can be in an address: bits. */
const LOCAL = 1;
const DOMAIN = 2;
/** `mailto:` and `user=` end in characters that no address has here, though RFC 5321 allows some of them. */
const FIRST = 4;
const roleOf = byBlock((char) => {
  const isLetter = new RegExp(`[${LETTER}]`, "u").test(char);
  const isLocal = isLetter || "!#$%'*+_^~.-".includes(char);
  const isFirst = isLetter || char === "_" || char === "+";
  return (
    (isLocal ? LOCAL : 0) | (isLetter || char === "." || char === "-" ? DOMAIN : 0) | (isFirst ? FIRST : 0)
  );
});
/** Behind the last letter of the top domain something else may follow without a space. */
const NAME = new RegExp(`^(?:[${LETTER}][${LETTER}-]*\\.)+(?:xn--[a-z0-9-]{1,59}|\\p{L}{2,24})`, "iu");
/** Names of images for dense screens: `icon@2x.png`. */
const SCALED = /^\dx\.(?:png|jpe?g|gif|webp|svg)$/i;
const LONGEST_LOCAL = 64;
const LONGEST = 254;
const AT = 0x40;
const DOT = 0x2e;

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
  reach: (text) => runAtEnd(text, LONGEST, (code) => code === AT || roleOf(code) !== 0),
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
  if (!hasDot) return 0;
  const name = NAME.exec(text.slice(from, end))?.[0];
  return name === undefined || SCALED.test(name) ? 0 : from + name.length;
}
