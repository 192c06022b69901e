/** Numbers by which states know persons, each with its check digits, or with the ranges that are never given. */
import { type Templated, templateDetector } from "./template.ts";
import type { NationalId } from "../declarations.ts";
import type { Detector } from "./detector.ts";

/** Digits with the spaces and marks of some groupings, and without. */
const grouped = (sizes: readonly number[], ...marks: readonly string[]): string[] =>
  marks.map((mark) => sizes.map((size) => "9".repeat(size)).join(mark));

const weighted = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0);

const isUniform = (digits: string) => digits === digits[0]!.repeat(digits.length);

const NATIONAL: readonly (Templated & { readonly name: NationalId })[] = [
  {
    // Areas 000, 666 and from 900 on are not given (Social Security Administration).
    ...{ name: "ssn-us", kind: "SSN", templates: grouped([3, 2, 4], "-", " ") },
    check: (digits) => !/^(?:000|666|9)|^...00|0000$/.test(digits),
    normal: (digits) => `${digits.slice(0, 3)}-${digits.slice(3, 5)}-${digits.slice(5)}`,
  },
  {
    // Prefixes that are not given (HM Revenue & Customs, NIM39110).
    ...{
      name: "nino-uk",
      kind: "NINO",
      templates: ["AA 99 99 99 A", "AA999999A", "AA 999999 A", "AA-99-99-99-A"],
    },
    check: (value) => /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(value),
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
    check: (digits) => /^[2-9]/.test(digits) && passesVerhoeff(digits),
  },
  {
    ...{ name: "pesel-pl", kind: "PESEL", templates: ["99999999999"] },
    check: (digits) =>
      /^..(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])/.test(digits) &&
      weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
  },
  {
    ...{ name: "dni-es", kind: "DNI", templates: ["99999999A", "99999999-A", "A9999999A", "A-9999999-A"] },
    check: isDni,
  },
  {
    ...{ name: "sin-ca", kind: "SIN", templates: grouped([3, 3, 3], " ", "-") },
    check: (digits) => !/^[08]/.test(digits) && passesLuhn(digits),
  },
  {
    ...{ name: "codice-fiscale-it", kind: "CODICEFISCALE", templates: ["AAAAAA99A99A999A"] },
    check: isCodiceFiscale,
  },
];

export const NATIONAL_DETECTORS: ReadonlyMap<string, Detector> = new Map(
  NATIONAL.map((one) => [one.name, templateDetector(one)]),
);

/** ISO 7064, MOD 11,10; of the first ten digits, one is there twice or three times. */
function isGermanTaxId(digits: string): boolean {
  const counts = [..."0123456789"].map((digit) => digits.slice(0, 10).split(digit).length - 1);
  if (digits.startsWith("0") || Math.max(...counts) > 3 || Math.max(...counts) < 2) return false;
  let product = 10;
  for (const digit of digits.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits[10]);
}

/** Sex, year, month, department; 97 minus the rest of the number. Corsica has letters: 2A is 19, and 2B is 18. */
function isInsee(value: string): boolean {
  if (!/^[1-478]\d\d(?:0[1-9]|1[0-2]|[2-9]\d)(?:\d\d|2[AB])\d{8}$/.test(value)) return false;
  const number = Number(value.slice(0, 13).replace("2A", "19").replace("2B", "18"));
  return 97 - (number % 97) === Number(value.slice(13));
}

function isCpf(digits: string): boolean {
  if (isUniform(digits)) return false;
  return [9, 10].every((count) => {
    const weights = Array.from({ length: count }, (_, at) => count + 1 - at);
    return ((weighted(digits, weights) * 10) % 11) % 10 === Number(digits[count]);
  });
}

function isDni(value: string): boolean {
  if (!/^[XYZ\d]\d{7}[A-Z]$/.test(value)) return false;
  const number = Number(value.slice(0, 8).replace(/^[XYZ]/, (letter) => String("XYZ".indexOf(letter))));
  return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] === value[8];
}

/** Values of characters at odd places; at even ones it is the place in the alphabet, or the digit. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isCodiceFiscale(value: string): boolean {
  if (!/^.{8}[ABCDEHLMPRST]/.test(value)) return false;
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const code = value.charCodeAt(at);
    const number = code < 58 ? code - 48 : code - 65;
    sum += at % 2 === 0 ? ODD[number]! : number;
  }
  return value.charCodeAt(15) - 65 === sum % 26;
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** J. Verhoeff, Error Detecting Decimal Codes (1969): the dihedral group D5. */
const PERMUTED = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(PERMUTED[at % 8]![Number(digits[digits.length - 1 - at])]);
    check = product(check, digit);
  }
  return check === 0;
}

function product(one: number, other: number): number {
  if (one < 5) return other < 5 ? (one + other) % 5 : 5 + ((one + other) % 5);
  return other < 5 ? 5 + ((one - other + 5) % 5) : (one - other + 5) % 5;
}
