/** Tokens in place of values: derived from the value, so that every worker makes the same one in every turn. */
import { hkdfSync } from "node:crypto";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** 40 bits. Two values of a call with one token get {@link LONG}. */
export const SHORT = 8;
/** 65 bits. */
export const LONG = 13;

/** The secret of those whose tokens are alike. @param path of the caller whose tokens they are */
export function secretOf(root: Uint8Array, path: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", root, new Uint8Array(0), `guards/${path}`, 32));
}

/** `zh5hkibg…`: the base32 digits (RFC 4648, lower case) of a value. @param value as all of its spellings have it */
export function digestOf(secret: Uint8Array, kind: string, value: string): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update(`${kind}\0${value}`).digest();
  let text = "";
  let bits = 0;
  let rest = 0;
  for (const byte of digest) {
    rest = (rest << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(rest >> (bits - 5)) & 31]!;
    if (text.length >= LONG) return text.slice(0, LONG);
    rest &= (1 << bits) - 1;
  }
  return text;
}

/** `PII_EMAIL_zh5hkibg`: letters, digits and underscores alone survive JSON, URLs, HTML and Markdown. */
export function tokenOf(kind: string, digest: string, form: number): string {
  return `PII_${kind}_${digest}${form > 1 ? `_${form}` : ""}`;
}
