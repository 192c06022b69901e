/** International bank account numbers: the length of the country, and the check digits of ISO 13616. */
import { codeAt, isAlnum, isDigit, isLetter } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

/** Length by country, as the registry of ISO 13616 lists them, and of some more that use them. */
const COUNTRIES = `AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29
  ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21
  LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
  SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`;
/** By the two letters: 26 for the first one. */
const lengths = new Uint8Array(26 * 26);
for (const entry of COUNTRIES.split(/\s+/))
  lengths[placeOf(entry.charCodeAt(0), entry.charCodeAt(1))] = Number(entry.slice(2));
/** Characters, each with a separator. */
const LONGEST = 34 * 2;

export const iban: Detector = {
  name: "iban",
  kind: "IBAN",
  find(text, from = 0) {
    const found: Finding[] = [];
    // Of two digits side by side, one is at every second position.
    for (let at = from + 2; at < text.length; at += 2) {
      if (!isDigit(text.charCodeAt(at))) continue;
      const start = isDigit(text.charCodeAt(at - 1)) ? at - 3 : at - 2;
      const end = start >= from ? endOf(text, start) : 0;
      if (end === 0) continue;
      found.push({ start, end, kind: "IBAN" });
      at = end;
    }
    return found;
  },
  reach(text) {
    const least = Math.max(0, text.length - LONGEST);
    let at = text.length;
    let edge = at;
    for (; at > least; at--) {
      const code = text.charCodeAt(at - 1);
      if (!isAlnum(code) && !(isSeparator(code) && !isSeparator(codeAt(text, at)))) break;
      if (mayBegin(text, at - 1)) edge = at - 1;
    }
    return edge;
  },
  normal: (value) => value.replace(/[ -]/g, "").toUpperCase(),
};

const DASH = 0x2d;
const isSeparator = (code: number) => code === 0x20 || code === 0x2d;

function placeOf(first: number, second: number): number {
  return ((first & 0xdf) - 65) * 26 + (second & 0xdf) - 65;
}

/** @returns 0: no account begins here */
function lengthAt(text: string, start: number): number {
  const first = codeAt(text, start);
  const second = codeAt(text, start + 1);
  if (!isLetter(first) || !isLetter(second) || isAlnum(codeAt(text, start - 1))) return 0;
  return lengths[placeOf(first, second)]!;
}

/** Whether an account may begin here in a text that goes on. */
function mayBegin(text: string, start: number): boolean {
  if (!isLetter(codeAt(text, start)) || isAlnum(codeAt(text, start - 1))) return false;
  const left = text.length - start;
  if (left === 1) return true;
  const length = lengthAt(text, start);
  return (
    length > 0 &&
    (left < 3 || isDigit(codeAt(text, start + 2))) &&
    (left < 4 || isDigit(codeAt(text, start + 3)))
  );
}

/** @returns 0: no account begins here */
function endOf(text: string, start: number): number {
  const length = lengthAt(text, start);
  if (length === 0 || !isDigit(codeAt(text, start + 2)) || !isDigit(codeAt(text, start + 3))) return 0;
  let count = 0;
  let at = start;
  // The account as a number: its first four characters come last.
  let rest = 0;
  let head = 0;
  for (; count < length && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isAlnum(code)) {
      if (count < 4) head = appended(head, code);
      else rest = appended(rest, code);
      count++;
    } else if (!isSeparator(code) || isSeparator(text.charCodeAt(at - 1)) || (code === DASH && count % 4 > 0))
      return 0;
  }
  const isPart = codeAt(text, at) === DASH && isAlnum(codeAt(text, at + 1));
  if (count < length || isPart || isAlnum(codeAt(text, at))) return 0;
  // Two letters and two digits: six digits.
  return ((rest % 97) * 1_000_000 + head) % 97 === 1 ? at : 0;
}

/** A number behind which a character stands: a letter has two digits. Divisions are slow: it stays exact without most of them. */
function appended(number: number, code: number): number {
  const rest = number > 1_000_000 ? number % 97 : number;
  return isDigit(code) ? rest * 10 + code - 48 : rest * 100 + (code & 0xdf) - 55;
}
