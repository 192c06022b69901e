/** E-mail addresses: a dot-atom (RFC 5321) and a domain of at least two labels. */
import { type Detector, type Finding, reachOf } from "./detector.ts";

/** Letters beyond ASCII are those of alphabets that separate words by spaces: Chinese text touches an address without one. */
const LETTER = "A-Za-z0-9\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{M}";
const LOCAL = new RegExp(`[${LETTER}!#$%'*+_^~.-]`, "u");
const DOMAIN = new RegExp(`[${LETTER}.-]`, "u");
/** What an address can consist of. */
const RUN = `[${LETTER}!#$%'*+_^~.@-]`;
/** `mailto:` and `user=` end in characters that no address has here, though RFC 5321 allows some of them. */
const FIRST = new RegExp(`[${LETTER}_+]`, "u");
/** Behind the last letter of the top domain something else may follow without a space. */
const NAME = new RegExp(`^(?:[${LETTER}][${LETTER}-]*\\.)+(?:xn--[a-z0-9-]{1,59}|\\p{L}{2,24})`, "iu");
/** Names of images for dense screens: `icon@2x.png`. */
const SCALED = /^\dx\.(?:png|jpe?g|gif|webp|svg)$/i;
const LONGEST_LOCAL = 64;
const LONGEST = 254;

export const email: Detector = {
  name: "email",
  kind: "EMAIL",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (let at = text.indexOf("@", from); at >= 0; at = text.indexOf("@", at + 1)) {
      const start = localStart(text, at, found.at(-1)?.end ?? from);
      if (start === at) continue;
      const end = domainEnd(text, at + 1);
      if (end > 0) found.push({ start, end, kind: "EMAIL" });
    }
    return found;
  },
  reach: reachOf(new RegExp(`(?<!${RUN})${RUN}+$`, "u"), LONGEST),
  /** Domains know no case (RFC 5321, 2.4). */
  normal(value) {
    const at = value.lastIndexOf("@");
    return value.slice(0, at) + value.slice(at).toLowerCase();
  },
};

function localStart(text: string, at: number, least: number): number {
  let start = at;
  while (start > least && at - start < LONGEST_LOCAL && LOCAL.test(text[start - 1]!)) start--;
  const dots = text.slice(start, at).lastIndexOf("..");
  if (dots >= 0) start += dots + 2;
  while (start < at && !FIRST.test(text[start]!)) start++;
  return text[at - 1] === "." ? at : start;
}

/** @returns 0: no domain begins here */
function domainEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && end - from < LONGEST && DOMAIN.test(text[end]!)) end++;
  const name = NAME.exec(text.slice(from, end))?.[0];
  return name === undefined || SCALED.test(name) ? 0 : from + name.length;
}
