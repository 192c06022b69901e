/** International bank account numbers: the length of the country, and the check digits of ISO 13616. */
import { type Detector, type Finding, matchesFrom, reachOf } from "./detector.ts";

/** Length by country, as the registry of ISO 13616 lists them. */
const LENGTHS = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18
  FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20
  LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
  SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
);
const BEGINNING = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g;
/** Characters, each with a separator. */
const LONGEST = 34 * 2;

export const iban: Detector = {
  name: "iban",
  kind: "IBAN",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (const { index } of matchesFrom(BEGINNING, text, from)) {
      const end = endOf(text, index);
      if (end > 0) found.push({ start: index, end, kind: "IBAN" });
    }
    return found;
  },
  reach: reachOf(/(?<![A-Za-z0-9])(?:[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9])*[ -]?|[A-Za-z]{1,2}\d?)$/, LONGEST),
  normal: (value) => value.replace(/[ -]/g, "").toUpperCase(),
};

/** @returns 0: no account begins here */
function endOf(text: string, start: number): number {
  const length = LENGTHS.get(text.slice(start, start + 2).toUpperCase());
  if (length === undefined) return 0;
  let count = 0;
  let at = start;
  for (; count < length && at < text.length; at++) {
    if (isAlnum(text.charCodeAt(at))) count++;
    else if (!isSeparator(text.charCodeAt(at)) || isSeparator(text.charCodeAt(at - 1))) return 0;
  }
  if (count < length || isAlnum(text.charCodeAt(at))) return 0;
  return remainder(iban.normal!(text.slice(start, at))) === 1 ? at : 0;
}

function isAlnum(code: number): boolean {
  return (code >= 48 && code < 58) || (code >= 65 && code < 91) || (code >= 97 && code < 123);
}

const isSeparator = (code: number) => code === 0x20 || code === 0x2d;

/** Of the account as a number, modulo 97. */
function remainder(account: string): number {
  let rest = 0;
  for (let at = 0; at < account.length; at++) {
    const code = account.charCodeAt((at + 4) % account.length);
    rest = (code < 58 ? rest * 10 + code - 48 : rest * 100 + code - 55) % 97;
  }
  return rest;
}
