/** Numbers by which states know persons, each with its check digits, or with the ranges that are never given. */
import { type Templated, templateDetector } from "./template.ts";
import type { NationalId } from "../declarations.ts";
import { isLetter } from "./classes.ts";
import type { Detector } from "./detector.ts";

/** Digits with the spaces and marks of some groupings, and without. */
const grouped = (sizes: readonly number[], ...marks: readonly string[]): string[] =>
  marks.map((mark) => sizes.map((size) => "9".repeat(size)).join(mark));

const digitAt = (codes: Uint8Array, at: number) => codes[at]! - 48;

/** @param count of digits */
function numberAt(codes: Uint8Array, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at++) number = number * 10 + digitAt(codes, at);
  return number;
}

function weighted(codes: Uint8Array, weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at++) sum += weights[at]! * digitAt(codes, at);
  return sum;
}

function isUniform(codes: Uint8Array, count: number): boolean {
  for (let at = 1; at < count; at++) if (codes[at] !== codes[0]) return false;
  return true;
}

const PESEL = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1];
const CPF_FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CPF_SECOND = [11, ...CPF_FIRST];
const DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";

/** Two letters each, 26 for each first one. */
const ninoPrefixes = Uint8Array.from({ length: 26 * 26 }, (_, at) => {
  const prefix = String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26));
  return /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]$/.test(prefix) ? 1 : 0;
});

const NATIONAL: readonly (Templated & { readonly name: NationalId })[] = [
  {
    // Areas 000, 666 and from 900 on are not given (Social Security Administration).
    ...{ name: "ssn-us", kind: "SSN", templates: grouped([3, 2, 4], "-", " ") },
    check: isSsn,
    normal: (digits) => `${digits.slice(0, 3)}-${digits.slice(3, 5)}-${digits.slice(5)}`,
  },
  {
    // Prefixes that are not given (HM Revenue & Customs, NIM39110).
    ...{
      name: "nino-uk",
      kind: "NINO",
      templates: ["AA 99 99 99 A", "AA999999A", "AA 999999 A", "AA-99-99-99-A"],
    },
    check: (codes) => codes[8]! <= 0x44 && ninoPrefixes[(codes[0]! - 65) * 26 + codes[1]! - 65] === 1,
  },
  {
    ...{ name: "tax-de", kind: "TAXID", templates: grouped([2, 3, 3, 3], " ", "") },
    check: isGermanTaxId,
  },
  {
    ...{ name: "insee-fr", kind: "INSEE" },
    templates: ["9 99 99 99 999 999 99", "9 99 99 9X 999 999 99", "999999999999999", "999999X99999999"],
    check: isInsee,
  },
  {
    ...{ name: "cpf-br", kind: "CPF", templates: ["999.999.999-99", "99999999999"] },
    check: isCpf,
  },
  {
    ...{ name: "aadhaar-in", kind: "AADHAAR", templates: grouped([4, 4, 4], " ", "-", "") },
    check: (codes) => digitAt(codes, 0) > 1 && passesVerhoeff(codes, 12),
  },
  {
    ...{ name: "pesel-pl", kind: "PESEL", templates: ["99999999999"] },
    check: isPesel,
  },
  {
    ...{ name: "dni-es", kind: "DNI", templates: ["99999999A", "99999999-A", "A9999999A", "A-9999999-A"] },
    check: isDni,
  },
  {
    ...{ name: "sin-ca", kind: "SIN", templates: grouped([3, 3, 3], " ", "-") },
    check: (codes) => digitAt(codes, 0) !== 0 && digitAt(codes, 0) !== 8 && passesLuhn(codes, 9),
  },
  {
    ...{ name: "codice-fiscale-it", kind: "CODICEFISCALE", templates: ["AAAAAA99A99A999A"] },
    check: isCodiceFiscale,
  },
];

export const NATIONAL_DETECTORS: ReadonlyMap<string, Detector> = new Map(
  NATIONAL.map((one) => [one.name, templateDetector(one)]),
);

function isSsn(codes: Uint8Array): boolean {
  const area = numberAt(codes, 0, 3);
  return area > 0 && area !== 666 && area < 900 && numberAt(codes, 3, 2) > 0 && numberAt(codes, 5, 4) > 0;
}

/** How often each digit is in a number. */
const counts = new Uint8Array(10);

/** ISO 7064, MOD 11,10; of the first ten digits, one is there twice or three times. */
function isGermanTaxId(codes: Uint8Array): boolean {
  if (digitAt(codes, 0) === 0) return false;
  counts.fill(0);
  let most = 0;
  let product = 10;
  for (let at = 0; at < 10; at++) {
    const digit = digitAt(codes, at);
    const count = ++counts[digit]!;
    if (count > most) most = count;
    const sum = (digit + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return most >= 2 && most <= 3 && (11 - product) % 10 === digitAt(codes, 10);
}

/** Sex, year, month, department; 97 minus the rest of the number. Corsica has letters: 2A is 19, and 2B is 18. */
function isInsee(codes: Uint8Array): boolean {
  const sex = digitAt(codes, 0);
  const month = numberAt(codes, 3, 2);
  if (!(sex >= 1 && sex <= 8 && sex !== 5 && sex !== 6) || month === 0 || (month > 12 && month < 20))
    return false;
  const letter = isLetter(codes[6]!) ? codes[6]! - 64 : 0;
  if (letter > 0 && (letter > 2 || digitAt(codes, 5) !== 2)) return false;
  const department = letter > 0 ? 20 - letter : numberAt(codes, 5, 2);
  // The number has 13 digits: more than integers of 32 bits hold.
  const rest = ((numberAt(codes, 0, 5) * 100 + department) % 97) * 1_000_000 + numberAt(codes, 7, 6);
  return 97 - (rest % 97) === numberAt(codes, 13, 2);
}

function isCpf(codes: Uint8Array): boolean {
  return hasCpfDigit(codes, CPF_FIRST) && hasCpfDigit(codes, CPF_SECOND) && !isUniform(codes, 11);
}

/** @param weights of the digits in front of the one that checks them */
function hasCpfDigit(codes: Uint8Array, weights: readonly number[]): boolean {
  return ((weighted(codes, weights) * 10) % 11) % 10 === digitAt(codes, weights.length);
}

/** Year, month with the century in it, day. */
function isPesel(codes: Uint8Array): boolean {
  const month = numberAt(codes, 2, 2) % 20;
  const day = numberAt(codes, 4, 2);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && weighted(codes, PESEL) % 10 === 0;
}

/** A foreigner's letter X is 0, Y is 1, Z is 2. */
function isDni(codes: Uint8Array): boolean {
  const first = isLetter(codes[0]!) ? codes[0]! - 88 : digitAt(codes, 0);
  if (first < 0 || !isLetter(codes[8]!)) return false;
  const number = first * 10_000_000 + numberAt(codes, 1, 7);
  return DNI_LETTERS.charCodeAt(number % 23) === codes[8];
}

/** Values of characters at odd places; at even ones it is the place in the alphabet, or the digit. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Of the months, by the letters from A on: a bit for each. */
const MONTHS = [..."ABCDEHLMPRST"].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) - 65)), 0);

function isCodiceFiscale(codes: Uint8Array): boolean {
  if ((MONTHS & (1 << (codes[8]! - 65))) === 0) return false;
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const code = codes[at]!;
    const number = code < 58 ? code - 48 : code - 65;
    sum += at % 2 === 0 ? ODD[number]! : number;
  }
  return codes[15]! - 65 === sum % 26;
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(codes: Uint8Array, count: number): boolean {
  let sum = 0;
  for (let at = count - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const value = isDoubled ? digitAt(codes, at) * 2 : digitAt(codes, at);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** J. Verhoeff, Error Detecting Decimal Codes (1969): the dihedral group D5. */
const PERMUTED = Uint8Array.from(
  "01234567891576283094580379614289160435279453126870428657390127938064157046913258",
  Number,
);
const products = Uint8Array.from({ length: 100 }, (_, at) => product(Math.floor(at / 10), at % 10));

function product(one: number, other: number): number {
  if (one < 5) return other < 5 ? (one + other) % 5 : 5 + ((one + other) % 5);
  return other < 5 ? 5 + ((one - other + 5) % 5) : (one - other + 5) % 5;
}

function passesVerhoeff(codes: Uint8Array, count: number): boolean {
  let check = 0;
  for (let at = 0; at < count; at++)
    check = products[check * 10 + PERMUTED[(at & 7) * 10 + digitAt(codes, count - 1 - at)]!]!;
  return check === 0;
}
