/** Values that guards find: of each kind as many as are asked for, and never the same one twice. */
import { BUILT_IN } from "../declarations.ts";
import type { GuardOptions } from "../section.ts";

export interface ValueKind {
  readonly name: string;
  /** The option of a guard that finds them. */
  readonly find: GuardOptions["find"];
  /** Expression of the kind in tokens and masks. */
  readonly label: string;
  /** @param n tells values apart: below 100 million */
  make(n: number): string;
  /** Another spelling of the same value; of kinds with one spelling the value itself. */
  respell(value: string): string;
}

const same = (value: string) => value;
const digits = (n: number, length: number) => String(n).padStart(length, "0").slice(-length);
/** Spreads numbers that follow each other over 8 digits, each to another one: the factor is odd and no multiple of 5. */
const spread = (n: number) => (n * 48_271 + 7) % 100_000_000;

const SAMPLES: readonly ValueKind[] = [
  {
    ...{ name: "email", find: ["email"], label: "EMAIL" },
    make: (n) =>
      `${["anna", "b.smith", "c_d+tag", "émilie"][n % 4]!}.${spread(n)}@${n % 3 ? "" : "mail."}example.com`,
    respell: (value) => value.replace("example.com", "Example.COM"),
  },
  {
    ...{ name: "phone", find: ["phone"], label: "PHONE" },
    make: (n) => `+49 1511 ${digits(spread(n) % 10_000_000, 7)}`,
    respell: (value) => value.replaceAll(" ", "-"),
  },
  {
    ...{ name: "card", find: ["card"], label: "CARD" },
    make: cardOf,
    respell: (value) => value.replace(/[ -]/g, ""),
  },
  {
    ...{ name: "iban", find: ["iban"], label: "IBAN" },
    make: ibanOf,
    respell: (value) => value.replaceAll(" ", ""),
  },
  {
    ...{ name: "ip", find: ["ip"], label: "IP" },
    make(n) {
      const id = spread(n);
      if (n % 4 > 0) return `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`;
      return `2001:db8:${(id >> 16).toString(16)}:${(id & 0xffff).toString(16)}::7a`;
    },
    respell: (value) => value.toUpperCase(),
  },
  {
    ...{ name: "secrets", find: ["secrets"], label: "[A-Z]+" },
    make: (n) =>
      `ghp_${new Bun.CryptoHasher("sha512")
        .update(String(n))
        .digest("base64")
        .replace(/[^A-Za-z0-9]/g, "")
        .slice(0, 36)}`,
    respell: same,
  },
];

/** Values that JSON has to escape. */
const CUSTOM: ValueKind = {
  name: "custom",
  find: [{ name: "badge", pattern: '\\bEMP"\\\\\\d{8}\\b', longest: 14 }],
  label: "BADGE",
  make: (n) => `EMP"\\${digits(spread(n), 8)}`,
  respell: same,
};

/** Those that this build finds. */
export const KINDS: readonly ValueKind[] = [
  ...SAMPLES.filter(({ name }) => (BUILT_IN as readonly string[]).includes(name)),
  CUSTOM,
];

function cardOf(n: number): string {
  const begin = `4${digits(n % 7, 1)}00${digits(spread(n), 8)}00${digits(n % 10, 1)}`;
  return `${begin}${luhnOf(begin)}`.replace(/(\d{4})(?=\d)/g, `$1${["", " ", "-"][n % 3]!}`);
}

/** The check digit of ISO/IEC 7812-1, annex B. */
function luhnOf(digits: string): number {
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return (10 - (sum % 10)) % 10;
}

/** ISO 13616: the check digits make the number 1 modulo 97. */
function ibanOf(n: number): string {
  const account = `37040044${digits(spread(n), 8)}00`;
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  const iban = `DE${digits(Number(check), 2)}${account}`;
  return n % 2 ? iban : iban.replace(/(.{4})(?=.)/g, "$1 ");
}
