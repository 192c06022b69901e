/** Searches in JSON that no spelling escapes. */

import { layoutOf } from "./outline/layout.ts";

/** Begins the escapes of the characters of ASCII, as digits behind it from 2 to 7. */
const ESCAPE = Buffer.from("\\u00");
const TWO = 0x32;
const SEVEN = 0x37;
/** Begin the escapes of letters and of the underscore, and of few other characters. */
const ESCAPED_LETTERS = ["4", "5", "6", "7"].map((digit) => Buffer.from(`\\u00${digit}`));

/**
 * Whether a string or a name in JSON may contain a text. False is certain: what JSON parses to does not contain it. Where it is
 * true, the parsed value decides.
 * @param text printable ASCII without a slash or a backslash
 */
export function mayHold(body: Uint8Array, text: string | Buffer): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.includes(text)) return true;
  if (layoutOf(body)?.hasEscapes === false) return false;
  for (let at = bytes.indexOf(ESCAPE); at >= 0; at = bytes.indexOf(ESCAPE, at + ESCAPE.length)) {
    const digit = bytes[at + ESCAPE.length] ?? 0;
    if (digit >= TWO && digit <= SEVEN) return true;
  }
  return false;
}

/**
 * The same for the name of a member. Escapes of signs, which some clients write in texts, do not count.
 * @param name letters and underscores
 */
export function mayHoldName(body: Uint8Array, name: string): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.includes(name, 0, "latin1")) return true;
  if (layoutOf(body)?.hasEscapes === false) return false;
  return ESCAPED_LETTERS.some((escape) => bytes.includes(escape));
}
