/** Ids of things that clients keep in weir: 26 characters of Crockford's base32 in lower case, the time first, so that later ones sort behind. */
import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/** @param now milliseconds since 1970 */
export function timeId(now = Date.now()): string {
  let time = "";
  for (let rest = now; time.length < TIME_LENGTH; rest = Math.floor(rest / 32))
    time = ALPHABET[rest % 32]! + time;
  const random = randomBytes(RANDOM_LENGTH);
  return time + Array.from(random, (byte) => ALPHABET[byte % 32]).join("");
}
