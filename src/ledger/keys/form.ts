/** The text of a gateway key: `weir_sk_`, 43 characters of 32 random bytes, 6 characters of a checksum. */
import type { KeyKind } from "../policy.ts";

const PREFIXES: Readonly<Record<KeyKind, string>> = { call: "weir_sk_", admin: "weir_ad_", read: "weir_ro_" };
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
/** Lengths in characters. 62^43 exceeds 2^256, and 62^6 exceeds 2^32. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = PREFIXES.call.length;
const LENGTH = PREFIX_LENGTH + RANDOM_LENGTH + CHECKSUM_LENGTH;
/** Characters of a key that remain readable at both ends of a hint. */
const HINT_LENGTH = 4;

/** A new key. Only the client keeps the text: weir stores its digest. */
export function makeKeyText(
  kind: KeyKind,
  random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)),
): string {
  const body = PREFIXES[kind] + base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), RANDOM_LENGTH);
  return body + checksum(body);
}

/** The kind that a text claims by its prefix; `undefined` for a key of another form. */
export function claimedKind(text: string): KeyKind | undefined {
  if (!text.startsWith("weir_")) return undefined;
  if (text.startsWith(PREFIXES.call)) return "call";
  if (text.startsWith(PREFIXES.admin)) return "admin";
  return text.startsWith(PREFIXES.read) ? "read" : undefined;
}

/** Whether a text begins like a key of weir and its length or its checksum is wrong. */
export function isMistyped(text: string): boolean {
  if (claimedKind(text) === undefined) return false;
  if (text.length !== LENGTH) return true;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) !== checksum(body);
}

/** Whether a text has the form of the keys that weir makes. */
export function isMade(text: string): boolean {
  return claimedKind(text) !== undefined && !isMistyped(text);
}

/** SHA-256 as 64 lower-case hexadecimal digits. A key of 256 random bits needs no slow hash. */
export function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** The form of a key in lists: `weir_sk_Ab3d…9xQ2`. */
export function hintOf(text: string): string {
  const shown = claimedKind(text) === undefined ? HINT_LENGTH : PREFIX_LENGTH + HINT_LENGTH;
  // A short key of another form would be half revealed.
  if (text.length < shown + 4 * HINT_LENGTH) return "…";
  return `${text.slice(0, shown)}…${text.slice(-HINT_LENGTH)}`;
}

const ID_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** `key_` and 12 random characters of [a-z0-9]. */
export function makeKeyId(random = crypto.getRandomValues(new Uint8Array(12))): string {
  // 36 does not divide 256; an id is no secret.
  return `key_${[...random].map((byte) => ID_DIGITS[byte % ID_DIGITS.length]).join("")}`;
}

function checksum(body: string): string {
  return base62(BigInt(Bun.hash.crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}
