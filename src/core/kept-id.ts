/** Ids of what weir keeps for clients. Vendors print one id in different forms: `file-ID`, `file_ID`, `files/ID`. */
import { randomBytes } from "node:crypto";

/** Crockford's digits: no letter that is read as another one. Google's names allow no others but `-`. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Digits of the time, of all. */
const TIME = 10;
const LENGTH = 26;

/** A new id: the time first, so that ids sort by it, then 80 random bits. @param now milliseconds since 1970 */
export function createKeptId(now = Date.now()): string {
  let time = "";
  for (let rest = now; time.length < TIME; rest = Math.floor(rest / 32)) time = DIGITS[rest % 32]! + time;
  const random = randomBytes(LENGTH - TIME);
  return time + Array.from(random, (byte) => DIGITS[byte % 32]!).join("");
}

const FORM = /^(?:[a-z]+[-_/])?([0-9a-hjkmnp-tv-z]{26})$/;

/** The id in a text of any vendor's form. @returns undefined if the text has none */
export function keptIdIn(text: string): string | undefined {
  return FORM.exec(text)?.[1];
}
